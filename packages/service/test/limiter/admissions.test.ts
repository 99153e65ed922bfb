/** How long a partner's admissions are kept, and when they count. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limiterBounds } from '../../../common/src/bounds/service.ts';
import { createAdmissions, decide, record } from '../../src/limiter/rate-limit.ts';

const windowMs = limiterBounds.rateWindowMs;

test('admits up to the limit, and says how many are left and when the oldest expires', () => {
  const admissions = createAdmissions(3).of('p', 0);
  assert.deepEqual(decide(admissions, 3, 0), { isAdmitted: true, left: 2, untilMoreMs: windowMs });
  assert.deepEqual(decide(admissions, 3, 100), { isAdmitted: true, left: 1, untilMoreMs: windowMs - 100 });
  assert.deepEqual(decide(admissions, 3, 250), { isAdmitted: true, left: 0, untilMoreMs: windowMs - 250 });
  assert.deepEqual(decide(admissions, 3, 999), { isAdmitted: false, left: 0, untilMoreMs: 1 });
  assert.deepEqual(decide(admissions, 3, windowMs), { isAdmitted: true, left: 0, untilMoreMs: 100 });
  assert.deepEqual(decide(admissions, 3, windowMs + 99), { isAdmitted: false, left: 0, untilMoreMs: 1 });
  assert.deepEqual(decide(admissions, 3, 10_000), { isAdmitted: true, left: 2, untilMoreMs: windowMs });
});

test('with a lower limit, more are left once fewer than the limit count', () => {
  const admissions = createAdmissions(5).of('p', 0);
  // More than the ring holds, so the latest times stand before the oldest in it.
  for (const ms of [0, 1, 2, 2_000, 2_100, 2_200, 2_300]) record(admissions, ms);
  assert.deepEqual(decide(admissions, 2, 2_400), { isAdmitted: false, left: 0, untilMoreMs: 800 });
  assert.deepEqual(decide(admissions, 2, 3_199), { isAdmitted: false, left: 0, untilMoreMs: 1 });
  assert.deepEqual(decide(admissions, 2, 3_200), { isAdmitted: true, left: 0, untilMoreMs: 100 });
});

test('a full ring replaces its oldest admission', () => {
  const admissions = createAdmissions(2).of('p', 0);
  for (const ms of [0, 10, 20]) record(admissions, ms);
  assert.equal(admissions.count, 2);
  assert.deepEqual(decide(admissions, 2, 30), { isAdmitted: false, left: 0, untilMoreMs: windowMs - 20 });
});

test('a full ring removes expired admissions first', () => {
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

/** Adds partners without admissions, which the next sweep removes. */
function addIdle(partners: ReturnType<typeof createAdmissions>, count: number, now: number): void {
  for (let added = 0; added < count; added += 1) partners.of(`idle ${added}`, now);
}

test('a sweep keeps a partner while one of its admissions counts', () => {
  const partners = createAdmissions(1);
  const admitted = partners.of('admitted', 0);
  record(admitted, 0);
  addIdle(partners, limiterBounds.sweepPartners, windowMs - 1);
  assert.equal(partners.of('admitted', windowMs - 1), admitted);
});

test('a sweep removes idle partners, once there are many partners', () => {
  const partners = createAdmissions(1);
  const idle = ['admitted', 'new'].map((name) => [name, partners.of(name, 0)] as const);
  record(idle[0]![1], 0);
  addIdle(partners, limiterBounds.sweepPartners - idle.length, windowMs);
  for (const [name, admissions] of idle)
    assert.equal(partners.of(name, windowMs), admissions, 'not yet many');
  partners.of('one more', windowMs);
  for (const [name, admissions] of idle) assert.notEqual(partners.of(name, windowMs), admissions, name);
});

test('the next sweep comes at twice the number of partners that were left', () => {
  const partners = createAdmissions(1);
  const busy = limiterBounds.sweepPartners;
  for (let added = 0; added < busy; added += 1) record(partners.of(`busy ${added}`, 0), 0);
  // This sweep finds all of them busy.
  const early = partners.of('early', 0);
  for (let added = 0; added < busy - 1; added += 1) partners.of(`more ${added}`, 0);
  assert.equal(partners.of('early', 0), early);
  partners.of('twice as many', 0);
  assert.notEqual(partners.of('early', 0), early);
});
