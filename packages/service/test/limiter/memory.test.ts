import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chanceOf } from '../../../testkit/model/chance.ts';
import { createMemoryLimiter } from '../../src/limiter/rate-limit.ts';

const rate = 50;
const windowMs = 1_000;

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
    const decision = limiter.admit(partner.id);
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
      const limiter = createMemoryLimiter(3, () => clock.ms);
      for (const gap of gapsMs) {
        clock.ms += gap;
        const decision = limiter.admit('p');
        assert.ok(decision.left >= 0 && decision.left < 3);
        if (decision.isAdmitted) continue;
        clock.ms += decision.untilMoreMs - 1;
        assert.equal(limiter.admit('p').isAdmitted, false);
        clock.ms += 1;
        assert.equal(limiter.admit('p').isAdmitted, true);
      }
    }),
  );
});

test('a client never waits longer than a second, even if the process has run for years', () => {
  const instant = fc.double({ min: 0, max: 1e12, noNaN: true });
  fc.assert(
    fc.property(instant, (ms) => {
      const { untilMoreMs } = createMemoryLimiter(1, () => ms).admit('p');
      assert.equal(untilMoreMs, windowMs);
    }),
    { numRuns: 1_000 },
  );
});
