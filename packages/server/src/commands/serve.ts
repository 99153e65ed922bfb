import { pino } from 'pino';
import { command } from '../command-line/command.ts';
import {
  databaseConfig,
  databaseSettings,
  listenSettings,
  operationsSettings,
  postgresSettings,
  storeOptions,
} from '../config.ts';
import { startHealth } from '../http/health.ts';
import { stopOn, stopSignal } from '../lifetime.ts';
import { startService } from '../service.ts';
import { openStore } from '../store/open.ts';

export const serve = command({
  options: { ...databaseSettings, ...postgresSettings, ...listenSettings, ...operationsSettings },
  conflicts: (values) =>
    databaseConfig(values).database.engine === 'sqlite' && values.replica.length > 0
      ? ['--replica needs a Postgres database: set --database, too.']
      : [],
  run: async (values, _words, output) => {
    const signal = stopSignal();
    const log = pino({ level: values['log-level'] });
    const { database, environment } = databaseConfig(values);
    const store = await openStore(database, environment, 'serve', storeOptions(values));
    try {
      const health = await startHealth(values['ops-host'], values['ops-port'], store, log);
      const service = await startService(values, store, log).catch(async (error) => {
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
      await store.close();
    }
  },
});
