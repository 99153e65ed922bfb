import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { InvalidRequestError } from '../src/index.ts';
import { idsOf } from './support/network.ts';
import { answering } from './support/offline.ts';
import { rejectionOf } from './support/rejection.ts';

const invalidCursor = {
  status: 400,
  body: JSON.stringify({ errors: [{ category: 'INVALID_REQUEST_ERROR', code: 'INVALID_CURSOR' }] }),
};

function page(ids: readonly string[], cursor?: string) {
  return { body: JSON.stringify({ brands: ids.map((id) => ({ id })), cursor }) };
}

/** The queries without `?`. */
const queriesOf = (urls: readonly string[]) => urls.map((url) => new URL(url).search.slice(1));

/** Lets a pause of a second end at once. Returns the pauses. */
function skipPauses(t: TestContext): number[] {
  const pauses: number[] = [];
  const setTimer = globalThis.setTimeout;
  t.mock.method(globalThis, 'setTimeout', (run: () => void, ms: number) => {
    if (ms === 10_000) return setTimer(run, ms);
    pauses.push(ms);
    return setTimer(run, 0);
  });
  return pauses;
}

test('a walk whose cursor became invalid starts again and returns every record once', async (t) => {
  const pauses = skipPauses(t);
  const { network, urls } = answering(
    page(['a', 'b'], 'one'),
    page(['c', 'd'], 'two'),
    invalidCursor,
    page(['a', 'b'], 'three'),
    page(['c', 'ca', 'e'], 'four'),
    page(['f']),
  );
  // `ca` came after the walk had passed it, and `d` was deleted.
  assert.deepEqual(await idsOf(network.brands.list({ limit: 2 })), ['a', 'b', 'c', 'd', 'e', 'f']);
  assert.deepEqual(queriesOf(urls), [
    'limit=2',
    'limit=2&cursor=one',
    'limit=2&cursor=two',
    'limit=2',
    'limit=2&cursor=three',
    'limit=2&cursor=four',
  ]);
  assert.deepEqual(pauses, [1_000], 'every instance knows the new cursor key by then');
});

test('after a restart, pages() and next() skip the pages that were already returned', async (t) => {
  skipPauses(t);
  const answers = [
    page(['a', 'b'], 'one'),
    invalidCursor,
    page(['a'], 'two'),
    page(['b'], 'one'),
    page(['c'], 'four'),
    page(['d']),
  ];
  const pages: string[][] = [];
  for await (const { brands } of answering(...answers)
    .network.brands.list()
    .pages())
    pages.push(brands.map(({ id }) => id));
  assert.deepEqual(pages, [['a', 'b'], ['c'], ['d']]);

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

test('compares ids by their bytes in UTF-8', async (t) => {
  skipPauses(t);
  // In UTF-16 the fox comes before U+FF5A.
  const { network } = answering(
    page(['z', '\uff5a'], 'one'),
    invalidCursor,
    page(['z', 'zz', '\uff5a', '🦊']),
  );
  assert.deepEqual(await idsOf(network.brands.list()), ['z', '\uff5a', '🦊']);
});

test('a walk starts again only once', async (t) => {
  skipPauses(t);
  const { network, urls } = answering(page(['a'], 'one'), invalidCursor, page(['a'], 'two'), invalidCursor);
  const error = await rejectionOf(idsOf(network.brands.list()), InvalidRequestError);
  assert.equal(error.code, 'INVALID_CURSOR');
  assert.equal(urls.length, 4);
});

test('a cursor that the caller gave is not replaced; a later cursor of the same walk is', async (t) => {
  skipPauses(t);
  const given = answering(invalidCursor);
  await rejectionOf(idsOf(given.network.brands.list({ cursor: 'stored' })), InvalidRequestError);
  assert.equal(given.urls.length, 1);

  const later = answering(page(['b'], 'one'), invalidCursor, page(['a', 'b', 'c']));
  assert.deepEqual(await idsOf(later.network.brands.list({ cursor: 'stored' })), ['b', 'c']);
  assert.deepEqual(queriesOf(later.urls), ['cursor=stored', 'cursor=one', '']);
});

test('does not start again after another error, or if no record shows where the walk was', async (t) => {
  skipPauses(t);
  const refused = { ...invalidCursor, body: invalidCursor.body.replace('INVALID_CURSOR', 'VALUE_EMPTY') };
  for (const answers of [
    [page(['a'], 'one'), refused],
    [page([], 'one'), invalidCursor],
  ]) {
    const { network, urls } = answering(...answers);
    await rejectionOf(idsOf(network.brands.list()), InvalidRequestError);
    assert.equal(urls.length, 2);
  }
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
