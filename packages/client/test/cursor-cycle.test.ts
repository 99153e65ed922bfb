import assert from 'node:assert/strict';
import { test } from 'node:test';
import { follow, type Trail, trailFrom } from '../src/cursor-cycle.ts';

/** After how many cursors the walk is known to go in circles: a tail, then a cycle. */
function pagesUntilNoticed(tail: number, cycle: number): number {
  let trail: Trail | null = trailFrom(undefined);
  for (let page = 0; ; page += 1) {
    trail = follow(trail, String(page < tail ? page : tail + ((page - tail) % cycle)));
    if (trail === null) return page;
    assert.ok(trail.recent.length <= 100, 'it does not grow with the walk');
  }
}

test('notices a cycle of up to a hundred pages at its first repeat', () => {
  for (const cycle of [1, 2, 3, 50, 99, 100]) {
    for (const tail of [0, 1, 2, 7, 130]) assert.equal(pagesUntilNoticed(tail, cycle), tail + cycle);
  }
});

test('notices a longer one within three rounds, or twice the way to it', () => {
  for (const cycle of [101, 128, 129, 1_000]) {
    for (const tail of [0, 1, 500]) {
      const pages = pagesUntilNoticed(tail, cycle);
      assert.ok(pages <= 3 * Math.max(tail, cycle) + cycle, `${tail} and ${cycle}: ${pages}`);
    }
  }
});

test('a walk without repeats goes on, from whichever page and however often it is taken up', () => {
  const start = trailFrom('x');
  assert.equal(follow(start, 'x'), null);
  for (const _ of [1, 2]) assert.notEqual(follow(follow(start, 'a')!, 'b'), null);
});
