/** What is kept of a partner's admissions, and for how long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limiterBounds } from '../../src/bounds/limiter.ts';
import { createAdmissions, decide, record, takeBack } from '../../src/limiter/admissions.ts';

const windowMs = limiterBounds.rateWindowMs;

test('admits as many as the limit, says how many are left, and when the oldest is past', () => {
  const admissions = createAdmissions(3).of('p', 0);
  assert.deepEqual(decide(admissions, 3, 0), { isAdmitted: true, left: 2, untilMoreMs: windowMs });
  assert.deepEqual(decide(admissions, 3, 100), { isAdmitted: true, left: 1, untilMoreMs: windowMs - 100 });
  assert.deepEqual(decide(admissions, 3, 250), { isAdmitted: true, left: 0, untilMoreMs: windowMs - 250 });
  assert.deepEqual(decide(admissions, 3, 999), { isAdmitted: false, left: 0, untilMoreMs: 1 });
  assert.deepEqual(decide(admissions, 3, windowMs), { isAdmitted: true, left: 0, untilMoreMs: 100 });
  assert.deepEqual(decide(admissions, 3, windowMs + 99), { isAdmitted: false, left: 0, untilMoreMs: 1 });
  assert.deepEqual(decide(admissions, 3, 10_000), { isAdmitted: true, left: 2, untilMoreMs: windowMs });
});

test('counted under a lower limit, more is left when fewer than it count', () => {
  const admissions = createAdmissions(5).of('p', 0);
  // The ring has gone round once, so that the latest stand before the oldest in it.
  for (const ms of [0, 1, 2, 2_000, 2_100, 2_200, 2_300]) record(admissions, ms);
  assert.deepEqual(decide(admissions, 2, 2_400), { isAdmitted: false, left: 0, untilMoreMs: 800 });
  assert.deepEqual(decide(admissions, 2, 3_199), { isAdmitted: false, left: 0, untilMoreMs: 1 });
  assert.deepEqual(decide(admissions, 2, 3_200), { isAdmitted: true, left: 0, untilMoreMs: 100 });
});

test('where there are more than the ring has room for, the oldest is forgotten', () => {
  const admissions = createAdmissions(2).of('p', 0);
  for (const ms of [0, 10, 20]) record(admissions, ms);
  assert.equal(admissions.count, 2);
  assert.deepEqual(decide(admissions, 2, 30), { isAdmitted: false, left: 0, untilMoreMs: windowMs - 20 });
});

test('what is past makes room before what counts does', () => {
  const admissions = createAdmissions(2).of('p', 0);
  record(admissions, 0);
  record(admissions, windowMs);
  assert.equal(admissions.count, 1);
  record(admissions, windowMs + 5);
  assert.deepEqual(decide(admissions, 2, windowMs + 6), {
    isAdmitted: false,
    left: 0,
    untilMoreMs: windowMs - 6,
  });
});

test('the latest admission can be taken back, and none that is not there', () => {
  const admissions = createAdmissions(2).of('p', 0);
  record(admissions, 0);
  record(admissions, 400);
  takeBack(admissions);
  assert.deepEqual(decide(admissions, 2, 500), { isAdmitted: true, left: 0, untilMoreMs: 500 });
  takeBack(admissions);
  takeBack(admissions);
  takeBack(admissions);
  assert.equal(admissions.count, 0);
});

/** Partners enough that idle ones are looked for when the next one comes. */
function crowd(partners: ReturnType<typeof createAdmissions>, count: number, now: number): void {
  for (let stranger = 0; stranger < count; stranger += 1) partners.of(`stranger ${stranger}`, now);
}

test('a partner keeps its admissions while one of them counts', () => {
  const partners = createAdmissions(1);
  const admitted = partners.of('admitted', 0);
  record(admitted, 0);
  crowd(partners, limiterBounds.limiterSweepPartners, windowMs - 1);
  assert.equal(partners.of('admitted', windowMs - 1), admitted);
});

test('is forgotten when none of them counts any more, once there are many', () => {
  const partners = createAdmissions(1);
  const idle = ['admitted', 'new'].map((name) => [name, partners.of(name, 0)] as const);
  record(idle[0]![1], 0);
  crowd(partners, limiterBounds.limiterSweepPartners - idle.length, windowMs);
  for (const [name, admissions] of idle)
    assert.equal(partners.of(name, windowMs), admissions, 'not yet many');
  partners.of('one more', windowMs);
  for (const [name, admissions] of idle) assert.notEqual(partners.of(name, windowMs), admissions, name);
});

test('those who are left are looked through again at twice their number', () => {
  const partners = createAdmissions(1);
  const busy = limiterBounds.limiterSweepPartners;
  for (let one = 0; one < busy; one += 1) record(partners.of(`busy ${one}`, 0), 0);
  // This look finds all of them busy.
  const early = partners.of('early', 0);
  for (let one = 0; one < busy - 1; one += 1) partners.of(`more ${one}`, 0);
  assert.equal(partners.of('early', 0), early);
  partners.of('the one that makes twice as many', 0);
  assert.notEqual(partners.of('early', 0), early);
});
