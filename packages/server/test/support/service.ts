import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Operation } from '@partner-network/contract/operations';
import { pino } from 'pino';
import { createApp } from '../../src/app.ts';
import { createCursors } from '../../src/http/cursor.ts';
import { type Close, createHttpServer, listen, serveRoutes } from '../../src/http/server.ts';
import type { Limiter } from '../../src/limiter/port.ts';
import type { Reads, Store } from '../../src/store/port.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { fillFixture } from './fixture.ts';
import { type Caller, createCaller } from './http.ts';

export const publicUrl = 'https://network.example';

export interface TestService extends Caller {
  readonly port: number;
  readonly databasePath: string;
  readonly store: Store;
  readonly server: Server;
  readonly close: Close;
  /** Everything that was logged so far. */
  logs(): string;
}

interface Choices {
  /** Puts something in front of the store, or in its place. */
  readonly reads?: (store: Store, databasePath: string) => Reads;
  readonly limiters?: Partial<Record<Operation['name'], Limiter>>;
  readonly nowMs?: () => number;
}

export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The real service on a real socket and a real database, with the fixture's data, closed after the test. */
export async function startTestService(t: TestContext, choices: Choices = {}): Promise<TestService> {
  const databasePath = join(temporaryFolder(t), 'test.db');
  const store = openSqlite(databasePath, 'sandbox', 'create');
  await fillFixture(store);

  const nowMs = choices.nowMs ?? Date.now;
  let logged = '';
  const app = createApp({
    environment: store.environment,
    store: choices.reads?.(store, databasePath) ?? store,
    cursors: createCursors(await store.cursorKeys(), store.environment, nowMs),
    limiters: choices.limiters ?? {},
    publicUrl,
    nowMs,
  });
  const server = createHttpServer();
  const log = pino({ level: 'info' }, { write: (line: string) => (logged += line) });
  const close = serveRoutes(server, app, log);
  const port = await listen(server, '127.0.0.1', 0, '--port');
  const caller = createCaller(port);
  t.after(async () => {
    caller.disconnect();
    await close();
    await store.close();
  });
  return { ...caller, port, databasePath, store, server, close, logs: () => logged };
}
