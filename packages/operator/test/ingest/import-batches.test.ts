import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ingestBounds } from '../../../common/src/bounds/operator.ts';
import type { ImportRow, Store } from '../../../store/src/port.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { followRecords } from '../../src/ingest/follow.ts';
import type { Reading } from '../../src/ingest/lines.ts';
import { createRetry } from '../../src/ingest/retry.ts';
import { brand, importFrom, openEmpty } from './import-into.ts';

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

const note = 'x'.repeat(32_000);

/** All in one piece, like the lines of one chunk. */
async function* longRecords(count: number): AsyncGenerator<readonly Reading[]> {
  const values = Array.from({ length: count }, (_, line) => brand(line, { metadata: { note } }));
  yield values.map((value, line) => ({ line, text: JSON.stringify(value), value }));
}

const ways = {
  'a file': (store: Store, count: number) => importFrom(store, () => longRecords(count)),
  'a feed': (store: Store, count: number) => {
    const fail = () => assert.fail('nothing to report');
    const stop = new AbortController();
    const retry = createRetry({ stop, report: fail });
    const options = { kind: 'brands', partnerId: 'acme', stop, retry, rejected: fail } as const;
    return followRecords(store, longRecords(count), options);
  },
};

for (const [what, write] of Object.entries(ways)) {
  test(`writes long records of ${what} in small batches, to bound memory`, async (t) => {
    const { store, batches } = weighed(await openEmpty(t));
    const most = Math.ceil(ingestBounds.importBatchCharacters / note.length);
    assert.equal((await write(store, 2 * most + 2)).written, 2 * most + 2);
    assert.deepEqual(pluck(batches, 'length'), [most, most, 2]);
  });
}
