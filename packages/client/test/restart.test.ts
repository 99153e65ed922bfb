import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { answering } from './support/offline.ts';

const invalidCursor = {
  status: 400,
  body: JSON.stringify({ errors: [{ category: 'INVALID_REQUEST_ERROR', code: 'INVALID_CURSOR' }] }),
};

function page(ids: readonly string[], cursor?: string) {
  return { body: JSON.stringify({ brands: ids.map((id) => ({ id })), cursor }) };
}

/** Lets a pause of a second end at once. */
function skipPauses(t: TestContext): void {
  const setTimer = globalThis.setTimeout;
  t.mock.method(globalThis, 'setTimeout', (run: () => void, ms: number) =>
    setTimer(run, ms === 1_000 ? 0 : ms),
  );
}

test('after a restart, next() skips the pages that were already returned', async (t) => {
  skipPauses(t);
  const answers = [
    page(['a', 'b'], 'one'),
    invalidCursor,
    page(['a'], 'two'),
    page(['b'], 'one'),
    page(['c'], 'four'),
    page(['d']),
  ];
  const first = await answering(...answers).network.brands.list();
  const second = await first.next();
  assert.deepEqual([second?.brands, second?.cursor], [[{ id: 'c' }], 'four']);
});

test('after a restart, the last page is returned even if it has no further records', async (t) => {
  skipPauses(t);
  const { network } = answering(page(['a', 'b'], 'one'), invalidCursor, page(['a'], 'two'), page(['b']));
  const last = await (await network.brands.list()).next();
  assert.deepEqual([last?.brands, last?.cursor, await last?.next()], [[], undefined, null]);
});

test('aborting ends the pause before a restart', async () => {
  const { network, urls } = answering(page(['a'], 'one'), invalidCursor);
  const controller = new AbortController();
  const first = await network.brands.list({}, { signal: controller.signal });
  const second = first.next();
  const timer = setInterval(() => urls.length === 2 && controller.abort(new Error('enough')), 1);
  await assert.rejects(second, { message: 'enough' });
  clearInterval(timer);
  assert.equal(urls.length, 2);
});
