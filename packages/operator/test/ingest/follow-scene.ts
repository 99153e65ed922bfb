/** A feed into a test database, and stores that fail or wait when they write. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { parseDatabaseUrl, toFollow } from '../../../store/src/address.ts';
import { openStore } from '../../../store/src/engines.ts';
import type { ImportResult, ImportRun, ImportWrite, Store } from '../../../store/src/port.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { openTestDatabase } from '../../../testkit/service/database.ts';
import { type FollowOptions, followRecords } from '../../src/ingest/follow.ts';
import { readJsonLines } from '../../src/ingest/json.ts';
import type { Rejection } from '../../src/ingest/rejections.ts';
import { createRetry, type RetryOptions } from '../../src/ingest/retry.ts';
import { brandsOf, linesOf } from './import-into.ts';

/** A feed that the test writes to. */
function createFeed() {
  const stream = new TransformStream<Uint8Array, Uint8Array>();
  const writer = stream.writable.getWriter();
  return {
    chunks: stream.readable as AsyncIterable<Uint8Array>,
    send: (...records: unknown[]) => writer.write(Buffer.from(`${linesOf(records)}\n`)).catch(() => {}),
    sendText: (text: string) => writer.write(Buffer.from(text)),
    end: () => writer.close(),
    fail: (error: Error) => writer.abort(error),
  };
}

export async function openScene(t: TestContext) {
  const database = await openTestDatabase(t, 'partners', async (store) => {
    await store.createPartner({ id: 'acme', name: 'acme', created_at: createdAt }, byTest);
  });
  const writer = await openStore(parseDatabaseUrl(database.url)!, 'sandbox', toFollow);
  t.after(() => writer.close());
  const feed = createFeed();
  // Standard input fails in the same way.
  const stop = new AbortController();
  stop.signal.addEventListener('abort', () => feed.fail(new Error('stopped')));
  const rejected: [line: number, errors: readonly Rejection[]][] = [];
  const options: FollowOptions = {
    kind: 'brands',
    partnerId: 'acme',
    stop,
    retry: createRetry({ stop, report: (sentence) => assert.fail(sentence) }),
    rejected: (line, errors) => rejected.push([line, errors]),
  };
  /** The options of a feed that may lose its database, and what it reports. */
  const withOutages = (changes: Partial<RetryOptions> = {}) => {
    const reported: string[] = [];
    const retry = createRetry({ stop, report: (sentence) => reported.push(sentence), ...changes });
    return { options: { ...options, retry }, reported };
  };
  return {
    database,
    feed,
    rejected,
    names: async () => (await brandsOf(database.store)).map(({ name }) => name),
    options,
    withOutages,
    follow: (changes?: Partial<FollowOptions>) =>
      followRecords(writer, readJsonLines(feed.chunks), { ...options, ...changes }),
  };
}

/** The store with another write of import runs. */
function withWrite(store: Store, write: (run: ImportRun, how: ImportWrite) => Promise<ImportResult>): Store {
  const beginImport: Store['beginImport'] = async (...given) => {
    const run = await store.beginImport(...given);
    return { ...run, write: (how) => write(run, how) };
  };
  return { ...store, beginImport };
}

/** A store whose first write waits until `open` is called. `asked` resolves when the write starts. */
export function gated(store: Store) {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const slow = withWrite(store, async (run, how) => {
    asked.resolve();
    await gate.promise;
    return run.write(how);
  });
  return { slow, asked: asked.promise, open: gate.resolve };
}
