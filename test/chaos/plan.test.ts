import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planOf, quietEndMs, quietStartMs } from '../../checks/chaos/plan.ts';

const seeds = Array.from({ length: 200 }, (_, index) => index);
const minutes = 2;

test('the same seed gives the same faults, and another seed gives others', () => {
  for (const seed of seeds) {
    assert.deepEqual(planOf(seed, minutes), planOf(seed, minutes));
    assert.notDeepEqual(planOf(seed, minutes), planOf(seed + 1, minutes));
  }
});

test('nothing fails at the start or the end, and never both instances at once', () => {
  for (const plan of seeds.map((seed) => planOf(seed, minutes))) {
    assert.ok(plan.length > 10, `${plan.length} faults`);
    for (const { atMs, forMs } of plan) {
      assert.ok(atMs >= quietStartMs && atMs + forMs <= minutes * 60_000 - quietEndMs);
    }
    const ofInstances = plan.filter(({ part }) => part.startsWith('instance'));
    for (const [index, { atMs }] of ofInstances.entries()) {
      const before = ofInstances[index - 1];
      assert.ok(before === undefined || before.atMs + before.forMs < atMs);
    }
  }
});

test('ten seeds include every kind of fault', () => {
  const tried = (count: number) =>
    new Set(
      seeds.slice(1, count + 1).flatMap((seed) => planOf(seed, minutes).map((f) => `${f.harm} ${f.part}`)),
    );
  assert.deepEqual(tried(10), tried(199));
});
