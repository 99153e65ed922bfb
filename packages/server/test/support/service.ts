import type { Server } from 'node:http';
import type { TestContext } from 'node:test';
import type { Operation } from '@partner-network/contract/operations';
import { createApp } from '../../src/app.ts';
import { bounds } from '../../src/bounds.ts';
import type { Room } from '../../src/http/connections.ts';
import { createCursors } from '../../src/http/cursor.ts';
import type { Overload } from '../../src/http/overload.ts';
import { createRequestMetrics } from '../../src/http/request-metrics.ts';
import { type Close, createHttpServer, listen, serveRoutes } from '../../src/http/server.ts';
import type { Limiter } from '../../src/limiter/port.ts';
import type { Metric } from '../../src/metric.ts';
import type { Journal } from '../../src/receipts/journal.ts';
import type { Reads, Store } from '../../src/store/port.ts';
import { openTestDatabase, type TestDatabase } from './database.ts';
import { fillFixture } from './fixture.ts';
import { type Caller, createCaller } from './http.ts';
import { watchAnswers } from './watch-answers.ts';
import { keepCursorKeys, watchedLog } from './watch-logs.ts';

export const publicUrl = 'https://network.example';

export interface TestService extends Caller {
  readonly port: number;
  readonly database: TestDatabase;
  readonly store: Store;
  readonly server: Server;
  readonly close: Close;
  readonly metrics: readonly Metric[];
  drain(): void;
  /** Everything that was logged so far. */
  logs(): string;
}

interface Choices {
  /** The fixture's, if nothing else is said. On Postgres, data of one name is made once, and copied. */
  readonly data?: { readonly name: string; readonly fill: (store: Store) => Promise<void> };
  /** Puts something in front of the store, or in its place. */
  readonly reads?: (database: TestDatabase) => Promise<Reads>;
  readonly limiters?: Partial<Record<Operation['name'], Limiter>>;
  /** Without one, receipts are forgotten, for most tests are not about them. */
  readonly journal?: (database: TestDatabase) => Journal;
  /** A key that the reference offers to whoever has none. */
  readonly demoKey?: string;
  readonly nowMs?: () => number;
  /** Less room for connections than in service. */
  readonly room?: Partial<Room>;
  /** Without one, all are let in: a test's own work is in the way of its service. */
  readonly overload?: Overload;
}

const forgetful: Pick<Journal, 'add' | 'noteUse'> = { add: () => {}, noteUse: () => {} };

/** All that there is in service. */
export const wholeRoom: Room = { connections: bounds.connections, unreadCharacters: bounds.unreadCharacters };

/** The real service on a real socket and a real database, with the test's own data, closed after the test. */
export async function startTestService(t: TestContext, choices: Choices = {}): Promise<TestService> {
  const { name, fill } = choices.data ?? { name: 'fixture', fill: fillFixture };
  const database = await openTestDatabase(t, name, fill);
  const { store } = database;

  const nowMs = choices.nowMs ?? Date.now;
  const cursorKeys = await store.cursorKeys();
  keepCursorKeys(cursorKeys);
  const { overload } = choices;
  const app = createApp({
    environment: store.environment,
    store: (await choices.reads?.(database)) ?? store,
    cursors: createCursors(cursorKeys, store.environment, nowMs),
    limiters: choices.limiters ?? {},
    journal: choices.journal?.(database) ?? forgetful,
    publicUrl: () => publicUrl,
    demoKey: choices.demoKey,
    overload,
    nowMs,
  });
  const server = createHttpServer();
  watchAnswers(server);
  const { log, logs } = watchedLog();
  const requests = createRequestMetrics();
  const room = { ...wholeRoom, ...choices.room };
  const { close, drain, ...connections } = serveRoutes(server, app, log, { room, overload, requests });
  const port = await listen(server, '127.0.0.1', 0, '--port');
  const caller = createCaller(port);
  t.after(async () => {
    caller.disconnect();
    await close();
  });
  const metrics = [...requests.metrics, ...connections.metrics];
  return { ...caller, port, database, store, server, close, drain, metrics, logs };
}
