import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ingestBounds } from '../../src/bounds/ingest.ts';
import { followRecords } from '../../src/ingest/follow.ts';
import { importRecords, type Reading } from '../../src/ingest/import.ts';
import type { ImportRow, Store } from '../../src/store/port.ts';
import { brand, openEmpty } from './import-into.ts';

/** A store that records the batches it was given. */
function weighed(store: Store): { readonly store: Store; readonly batches: (readonly ImportRow[])[] } {
  const batches: (readonly ImportRow[])[] = [];
  const beginImport: Store['beginImport'] = async (kind) => {
    const run = await store.beginImport(kind);
    const stage = (rows: readonly ImportRow[]) => {
      batches.push(rows);
      return run.stage(rows);
    };
    return { ...run, stage };
  };
  return { store: { ...store, beginImport }, batches };
}

const note = 'x'.repeat(300_000);
const options = { kind: 'brands', partnerId: 'acme' } as const;

/** All in one piece, like the lines of one chunk. */
async function* longRecords(count: number): AsyncGenerator<readonly Reading[]> {
  yield Array.from({ length: count }, (_, line) => ({ line, value: brand(line, { metadata: { note } }) }));
}

const ways = {
  'a file': (store: Store, count: number) =>
    importRecords(store, longRecords(count), { ...options, skipInvalid: false, dryRun: false }),
  'a feed': (store: Store, count: number) => {
    const stop = new AbortController();
    const nothing = () => assert.fail('nothing to report');
    return followRecords(store, longRecords(count), {
      ...options,
      stop,
      rejected: nothing,
      waiting: nothing,
      answering: nothing,
    });
  },
};

for (const [what, write] of Object.entries(ways)) {
  test(`writes long records of ${what} in small batches, to bound memory`, async (t) => {
    const { store, batches } = weighed(await openEmpty(t));
    assert.equal((await write(store, 10)).written, 10);
    const most = Math.ceil(ingestBounds.importBatchCharacters / note.length);
    assert.deepEqual(
      batches.map(({ length }) => length),
      [most, most, 10 - 2 * most],
    );
  });
}
