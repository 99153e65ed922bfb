/** The service as `serve` puts it together, in this process, with traces sent to a collector. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { parseLine } from '../../src/command-line/parse.ts';
import { serve } from '../../src/commands/serve.ts';
import { ratesOf, type ServeConfig } from '../../src/config.ts';
import { createOverload } from '../../src/http/overload.ts';
import { openLimiters } from '../../src/limiter/open.ts';
import { createJournal } from '../../src/receipts/journal.ts';
import { startService } from '../../src/service.ts';
import type { Store } from '../../src/store/port.ts';
import { startTracing } from '../../src/tracing/tracing.ts';
import { openTestDatabase } from '../support/database.ts';
import { fillFixture } from '../support/fixture.ts';
import { type Caller, createCaller } from '../support/http.ts';
import { watchedLog } from '../support/watch-logs.ts';

interface TracedService extends Caller {
  /** Sends all that was traced. */
  send(): Promise<void>;
  logs(): string;
}

interface Choices {
  readonly engine?: 'sqlite' | 'postgres';
  readonly flags?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  /** Puts something in front of the store. */
  readonly store?: (store: Store) => Store;
}

export async function startTracedService(
  t: TestContext,
  endpoint: string,
  { engine = 'sqlite', flags = [], variables = {}, store: behind = (store) => store }: Choices = {},
): Promise<TracedService> {
  const database = await openTestDatabase(t, 'fixture', fillFixture, engine);
  const words = ['--environment', 'sandbox', '--database', database.url, '--port', '0', ...flags];
  const line = parseLine(serve, words, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...variables });
  assert.deepEqual(line.problems, []);
  const config = line.values as ServeConfig;

  const { log, logs } = watchedLog();
  const tracing = await startTracing(config, log);
  const store = behind(database.store);
  const journal = createJournal(store, log);
  const rateLimit = await openLimiters(
    { environment: 'sandbox', rates: ratesOf(config), redis: config.redis },
    log,
  );
  const { limiters } = rateLimit;
  const overload = createOverload(config, log);
  const service = await startService(config, { store, limiters, journal, overload, tracing }, log);
  const caller = createCaller(Number(new URL(service.address).port));
  t.after(async () => {
    caller.disconnect();
    for (const close of [service.close, rateLimit.close, journal.close]) await close();
    await tracing?.close();
  });
  return { ...caller, send: async () => tracing?.close(), logs };
}
