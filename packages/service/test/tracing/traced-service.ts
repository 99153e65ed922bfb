/** The service as `serve` composes it, in this process, with traces sent to a collector. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { parseLine } from '../../../common/src/command-line/parse.ts';
import { serve } from '../../../operator/src/commands/serve.ts';
import type { Store } from '../../../store/src/port.ts';
import { fillFixture } from '../../../testkit/fixtures/fixture.ts';
import { type Caller, createCaller } from '../../../testkit/fixtures/http.ts';
import { openTestDatabase } from '../../../testkit/service/database.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { openService } from '../../src/serve/service.ts';
import { resolveServe, type ServeConfig } from '../../src/settings.ts';

interface TracedService extends Caller {
  /** Stops the service, which sends all spans. */
  send(): Promise<void>;
  logs(): string;
}

interface Choices {
  readonly engine?: 'sqlite' | 'postgres';
  readonly flags?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  /** Wraps the store. */
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
  const { log, logs } = watchedLog();
  const opened = new AsyncDisposableStack();
  const store = behind(database.store);
  const service = await openService(resolveServe(line.values as ServeConfig), log, opened, { store });
  const caller = createCaller(Number(new URL(service.address).port));
  const send = async () => {
    caller.disconnect();
    await opened.disposeAsync();
  };
  t.after(send);
  return { ...caller, send, logs };
}
