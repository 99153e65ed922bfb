/**
 * When admissions count and how long they are kept, and the headers for each decision. Without a service: the
 * check `mutate` needs quick tests.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { limiterBounds } from '../../../common/src/bounds/service.ts';
import { chanceOf } from '../../../testkit/model/chance.ts';
import {
  admit,
  createAdmissions,
  createMemoryLimiter,
  type Decision,
  decide,
  record,
} from '../../src/limiter/rate-limit.ts';

const rate = 50;
const windowMs = limiterBounds.rateWindowMs;

const acme = { partnerId: 'acme', limits: {} };
const admitted: Decision = { isAdmitted: true, admitted: 38, left: 12, untilMoreMs: 1_000.5 };

function limiterOf(decision: Decision) {
  const limiter = {
    ratePerSecond: 50,
    tallies: [],
    asked: [] as unknown[],
    admit: (...question: unknown[]) => {
      limiter.asked.push(question);
      return { ...decision, source: 'memory' as const };
    },
  };
  return limiter;
}

test('a response has no rate limit headers without a limiter', async () => {
  const headers = ['X-Request-Id', '1'];
  await admit(undefined, 'brands', acme, headers);
  const unlimited = { ...limiterOf(admitted), ratePerSecond: 0 };
  await admit(unlimited, 'brands', { ...acme, limits: { balances: 3 } }, headers);
  assert.deepEqual(unlimited.asked, []);
  assert.deepEqual(headers, ['X-Request-Id', '1']);
});

test('an admitted request gets the policy, its remaining rate, and the seconds until more', async () => {
  const limiter = limiterOf(admitted);
  const headers: string[] = [];
  await admit(limiter, 'brands', acme, headers);
  assert.deepEqual(limiter.asked, [['acme', 50]]);
  assert.deepEqual(headers, ['RateLimit-Policy', '"brands";q=50;w=1', 'RateLimit', '"brands";r=12;t=2']);
});

/** The length is that of the body below. */
const headersOfErrors = [
  ...['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'],
  ...['Content-Length', '175'],
];

test('a refused request also gets the time to retry, in whole seconds and in milliseconds', async () => {
  const headers: string[] = [];
  const limiter = limiterOf({ isAdmitted: false, admitted: 50, left: 0, untilMoreMs: 700.25 });
  await assert.rejects(admit(limiter, 'balances', acme, headers), {
    status: 429,
    errors: [
      {
        category: 'RATE_LIMIT_ERROR',
        code: 'RATE_LIMITED',
        detail:
          'Wait for the time in Retry-After-Ms, then retry: the limit is 50 requests per second per partner.',
      },
    ],
    headers: [...headersOfErrors, 'Retry-After', '1', 'Retry-After-Ms', '701'],
  });
  assert.deepEqual(headers, ['RateLimit-Policy', '"balances";q=50;w=1', 'RateLimit', '"balances";r=0;t=1']);
});

test("a partner's own rate replaces the default, also a default of no limit, in every header", async () => {
  const own = { ...acme, limits: { brands: 7 } };
  for (const ratePerSecond of [0, 50]) {
    const limiter = { ...limiterOf({ ...admitted, isAdmitted: false }), ratePerSecond };
    const headers: string[] = [];
    const refused = admit(limiter, 'brands', own, headers);
    await assert.rejects(refused, ({ errors }) => errors[0].detail.includes('7 requests per second'));
    assert.deepEqual([limiter.asked, headers[1]], [[['acme', 7]], '"brands";q=7;w=1']);
  }
});

const decision = (isAdmitted: boolean, admitted: number, left: number, untilMoreMs: number) => ({
  ...{ isAdmitted, admitted, left, untilMoreMs },
});

test('admits up to the limit, and says how many are left and when the oldest expires', () => {
  const admissions = createAdmissions().of('p', 0);
  assert.deepEqual(decide(admissions, 3, 0), decision(true, 1, 2, windowMs));
  assert.deepEqual(decide(admissions, 3, 100), decision(true, 2, 1, windowMs - 100));
  assert.deepEqual(decide(admissions, 3, 250), decision(true, 3, 0, windowMs - 250));
  assert.deepEqual(decide(admissions, 3, 999), decision(false, 3, 0, 1));
  assert.deepEqual(decide(admissions, 3, windowMs), decision(true, 3, 0, 100));
  assert.deepEqual(decide(admissions, 3, windowMs + 99), decision(false, 3, 0, 1));
  assert.deepEqual(decide(admissions, 3, 10_000), decision(true, 1, 2, windowMs));
});

test('with a lower limit, more are left once fewer than the limit count', () => {
  const admissions = createAdmissions().of('p', 0);
  for (const ms of [0, 1, 2, 2_000, 2_100, 2_200, 2_300]) record(admissions, 5, ms);
  assert.deepEqual(decide(admissions, 2, 2_400), decision(false, 4, 0, 800));
  assert.deepEqual(decide(admissions, 2, 3_199), decision(false, 2, 0, 1));
  assert.deepEqual(decide(admissions, 2, 3_200), decision(true, 2, 0, 100));
});

test('of more admissions than the rate, the oldest is dropped', () => {
  const admissions = createAdmissions().of('p', 0);
  for (const ms of [0, 10, 20]) record(admissions, 2, ms);
  assert.equal(admissions.length, 2);
  assert.deepEqual(decide(admissions, 2, 30), decision(false, 2, 0, windowMs - 20));
});

test('expired admissions are removed first', () => {
  const admissions = createAdmissions().of('p', 0);
  record(admissions, 2, 0);
  record(admissions, 2, windowMs);
  assert.equal(admissions.length, 1);
  record(admissions, 2, windowMs + 5);
  assert.deepEqual(decide(admissions, 2, windowMs + 6), decision(false, 2, 0, windowMs - 6));
});

/** Adds partners without admissions, which the next sweep removes. */
function addIdle(partners: ReturnType<typeof createAdmissions>, count: number, now: number): void {
  for (let added = 0; added < count; added += 1) partners.of(`idle ${added}`, now);
}

test('once there are many partners, a sweep removes those without an admission that counts', () => {
  const partners = createAdmissions();
  const places = ['past', 'idle', 'counting'].map((name) => partners.of(name, 0));
  const kept = (now: number) =>
    ['past', 'idle', 'counting'].map((name, index) => partners.of(name, now) === places[index]);
  record(places[0]!, 1, 0);
  record(places[2]!, 1, 1);
  addIdle(partners, limiterBounds.sweepPartners - places.length, windowMs);
  assert.deepEqual(kept(windowMs), [true, true, true], 'not yet many');
  partners.of('one more', windowMs);
  assert.deepEqual(kept(windowMs), [false, false, true]);
});

test('the next sweep comes at twice the number of partners that were left', () => {
  const partners = createAdmissions();
  const busy = limiterBounds.sweepPartners;
  for (let added = 0; added < busy; added += 1) record(partners.of(`busy ${added}`, 0), 1, 0);
  // This sweep finds all of them busy.
  const early = partners.of('early', 0);
  for (let added = 0; added < busy - 1; added += 1) partners.of(`more ${added}`, 0);
  assert.equal(partners.of('early', 0), early);
  partners.of('twice as many', 0);
  assert.notEqual(partners.of('early', 0), early);
});

test('a million arrivals never let 51 through in any second, nor refuse a request within the rate', () => {
  const chance = chanceOf(42).fraction;
  const clock = { ms: 0 };
  const limiter = createMemoryLimiter(rate, () => clock.ms);
  const partners = ['a', 'b', 'c'].map((id) => ({ id, admittedMs: [] as number[], oldestInWindow: 0 }));
  let refused = 0;

  for (let arrival = 0; arrival < 1_000_000; arrival += 1) {
    // Bursts in one instant, dense and sparse arrivals, and arrivals exactly on the edge of a second.
    const kind = chance();
    if (kind < 0.5) clock.ms += chance() * 3;
    else if (kind < 0.501) clock.ms += chance() * 2_500;
    else if (kind < 0.51) clock.ms = Math.ceil((clock.ms + 1) / 250) * 250;
    const partner = partners[Math.floor(chance() * 3)]!;
    const { admittedMs } = partner;
    // The model keeps all admissions and counts those of the last second.
    while (
      partner.oldestInWindow < admittedMs.length &&
      clock.ms - admittedMs[partner.oldestInWindow]! >= windowMs
    ) {
      partner.oldestInWindow += 1;
    }
    const fits = admittedMs.length - partner.oldestInWindow < rate;
    const decision = limiter.admit(partner.id, rate);
    assert.equal(decision.isAdmitted, fits);
    if (decision.isAdmitted) admittedMs.push(clock.ms);
    else refused += 1;
  }

  assert.ok(refused > 100_000, 'the load was over the rate');
  for (const { admittedMs } of partners) {
    for (let index = rate; index < admittedMs.length; index += 1) {
      assert.ok(admittedMs[index]! - admittedMs[index - rate]! >= windowMs, '51 within a second');
    }
  }
});

test('a refused client is admitted after exactly the time in its refusal, and not before', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(400), { minLength: 1, maxLength: 200 }), (gapsMs) => {
      const clock = { ms: 0 };
      const limiter = createMemoryLimiter(50, () => clock.ms);
      for (const gap of gapsMs) {
        clock.ms += gap;
        const decision = limiter.admit('p', 3);
        assert.ok(decision.left >= 0 && decision.left < 3);
        if (decision.isAdmitted) continue;
        clock.ms += decision.untilMoreMs - 1;
        assert.equal(limiter.admit('p', 3).isAdmitted, false);
        clock.ms += 1;
        assert.equal(limiter.admit('p', 3).isAdmitted, true);
      }
    }),
  );
});

test('a client never waits longer than a second, even if the process has run for years', () => {
  const instant = fc.double({ min: 0, max: 1e12, noNaN: true });
  fc.assert(
    fc.property(instant, (ms) => {
      const { untilMoreMs } = createMemoryLimiter(50, () => ms).admit('p', 1);
      assert.equal(untilMoreMs, windowMs);
    }),
    { numRuns: 1_000 },
  );
});
