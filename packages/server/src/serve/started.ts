import type { Logger } from 'pino';
import { ownVersion } from '../lib/version.ts';
import { urlOfTraces } from '../tracing/settings.ts';
import { databaseConfig, type ServeConfig } from './settings.ts';

interface Addresses {
  readonly publicUrl: string;
  readonly address: string;
  readonly operations: string;
}

/** What the log tells of a start, for whoever asks later what served where: none of it is secret. */
export function logStart(config: ServeConfig, addresses: Addresses, log: Logger): void {
  const { environment, database } = databaseConfig(config);
  log.info(
    {
      version: ownVersion(),
      environment,
      engine: database.engine,
      public_url: addresses.publicUrl,
      address: addresses.address,
      operations_address: addresses.operations,
      workers: config.workers,
      sends_traces: urlOfTraces(config) !== undefined,
    },
    'started',
  );
}
