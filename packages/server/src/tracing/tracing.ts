import type { Environment } from '@partner-network/contract/environments';
import type { Logger } from 'pino';
import type { DatabaseAddress } from '../store/address.ts';
import type { Tracing } from './port.ts';
import { shareOfTraces, type TracingConfig, urlOfTraces } from './settings.ts';

const databaseSystems = { sqlite: 'sqlite', postgres: 'postgresql' };

/** Starts tracing if a collector is configured; otherwise returns undefined and loads nothing. */
export async function startTracing(
  config: TracingConfig | undefined,
  environment: Environment,
  engine: DatabaseAddress['engine'],
  log: Logger,
): Promise<Tracing | undefined> {
  const url = config && urlOfTraces(config);
  if (config === undefined || url === undefined) return undefined;
  const { openTracing } = await import('./open-telemetry.ts');
  return openTracing(url, shareOfTraces(config), environment, databaseSystems[engine], log);
}
