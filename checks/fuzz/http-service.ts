/**
 * The service for fuzzing, in this process, with its own socket and database. It has everything that reads a
 * request, but no overload protection, rate limit or refresh of cursor keys.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { createHttpServer, listen, serveSite } from '../../packages/http/src/server/server.ts';
import { createCursors } from '../../packages/service/src/cursors.ts';
import { createApp } from '../../packages/service/src/serve/service.ts';
import { parseDatabaseUrl, toCreate } from '../../packages/store/src/address.ts';
import { openStore } from '../../packages/store/src/engines.ts';
import type { Store } from '../../packages/store/src/port.ts';
import { fillFixture, keys } from '../../packages/testkit/fixtures/fixture.ts';
import { type Lifetime, placeInMemory } from '../../packages/testkit/fixtures/lifetime.ts';

/** A temporary database with the data of two partners. */
export async function openFuzzStore(lifetime: Lifetime): Promise<{ store: Store; path: string }> {
  const folder = mkdtempSync(join(placeInMemory(1e9), 'partner-network-fuzz-'));
  lifetime.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'fuzz.db');
  const store = await openStore(parseDatabaseUrl(`sqlite:${path}`)!, 'sandbox', toCreate);
  lifetime.after(() => store.close());
  await fillFixture(store);
  return { store, path };
}

/** A log, and its lines that contain one of the keys. */
export function searchedLog(keys: Readonly<Record<string, string>>) {
  const leaks: string[] = [];
  const secrets = Object.values(keys).map((key) => key.slice(0, -8));
  const write = (line: string) => {
    if (secrets.some((secret) => line.includes(secret))) leaks.push(line);
  };
  return { log: pino({ level: 'info' }, { write }), leaks };
}

export async function serveFuzz(lifetime: Lifetime) {
  const { store } = await openFuzzStore(lifetime);
  const cursorKeys = await store.cursorKeys();
  const cursors = createCursors(() => cursorKeys, store.environment, Date.now);
  const app = createApp({
    environment: store.environment,
    store,
    cursors,
    limiters: {},
    journal: { add: () => {}, count: () => true, noteUse: () => {} },
    publicUrl: () => 'https://network.example',
    nowMs: Date.now,
  });
  const { log, leaks } = searchedLog(keys);
  const server = createHttpServer();
  const { close } = serveSite(server, { ...app, log });
  const port = await listen(server, '127.0.0.1', 0, '--port');
  lifetime.after(close);
  return { port, leaks };
}
