import { pino } from 'pino';
import { command } from '../command-line/command.ts';
import {
  databaseConfig,
  databaseSettings,
  listenSettings,
  operationsSettings,
  postgresSettings,
  ratesOf,
  sharedSettings,
  storeOptions,
} from '../config.ts';
import { startHealth } from '../http/health.ts';
import { stopOn, stopSignal } from '../lifetime.ts';
import { openLimiters } from '../limiter/open.ts';
import { startService } from '../service.ts';
import { openStore } from '../store/open.ts';

export const serve = command({
  options: {
    ...databaseSettings,
    ...postgresSettings,
    ...listenSettings,
    ...sharedSettings,
    ...operationsSettings,
  },
  conflicts: (values) =>
    databaseConfig(values).database.engine === 'sqlite' && values.replica.length > 0
      ? ['--replica needs a Postgres database: set --database, too.']
      : [],
  run: async (values, _words, output) => {
    const signal = stopSignal();
    const log = pino({ level: values['log-level'] });
    const { database, environment } = databaseConfig(values);
    const store = await openStore(database, environment, 'serve', storeOptions(values));
    const rateLimit = await openLimiters({ environment, rates: ratesOf(values), redis: values.redis }, log);
    try {
      const health = await startHealth(values['ops-host'], values['ops-port'], store, rateLimit.metrics, log);
      const service = await startService(values, store, rateLimit.limiters, log).catch(async (error) => {
        await health.close();
        throw error;
      });
      output.remark(
        `Serving ${environment} at ${service.publicUrl}/network/v1; listening on ${service.address}, operations on ${health.url}.`,
      );
      await stopOn(signal, values['drain-delay'], health.drain, async () => {
        await service.close();
        await health.close();
      });
    } finally {
      await rateLimit.close();
      await store.close();
    }
  },
});
