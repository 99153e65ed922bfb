import type { Logger } from 'pino';
import { databaseConfig, type ServeConfig } from '../config.ts';
import { shareOfTraces, urlOfTraces } from './settings.ts';
import type { Attributes, Span } from './span.ts';

/** The step of a caller's own trace that a request is a part of. */
export interface CallersSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

export interface Tracing {
  /** Which database it is, by the name that OpenTelemetry has for it. */
  readonly databaseSystem: string;
  /** Whether the next request is of the share that is traced. */
  isDue(): boolean;
  /** Begins the trace of a request. */
  begin(name: string, attributes: Attributes, caller: CallersSpan | undefined): Span;
  /** Sends what is left, and gives up on it after a while. */
  close(): Promise<void>;
}

const databaseSystems = { sqlite: 'sqlite', postgres: 'postgresql' };

/** Undefined, and nothing of it loaded, where no collector is set. */
export async function startTracing(config: ServeConfig, log: Logger): Promise<Tracing | undefined> {
  const url = urlOfTraces(config);
  if (url === undefined) return undefined;
  const { database, environment } = databaseConfig(config);
  const { openTracing } = await import('./open-telemetry.ts');
  const databaseSystem = databaseSystems[database.engine];
  return openTracing({ url, share: shareOfTraces(config), environment, databaseSystem }, log);
}
