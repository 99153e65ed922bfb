import { pino } from 'pino';
import { bounds } from '../bounds.ts';
import { command } from '../command-line/command.ts';
import {
  databaseConfig,
  databaseSettings,
  listenConfig,
  listenSettings,
  operationsSettings,
} from '../config.ts';
import { startOperations } from '../http/operations.ts';
import { stopOn, stopSignal } from '../lifetime.ts';
import { startService } from '../service.ts';
import { openStore } from '../store/open.ts';

export const serve = command({
  options: { ...databaseSettings, ...listenSettings, ...operationsSettings },
  run: async (values, _words, output) => {
    const signal = stopSignal();
    const log = pino({ level: values['log-level'] });
    const { database, environment } = databaseConfig(values);
    const store = await openStore(database, environment, bounds.sqliteServeBusyMs);
    try {
      const operations = await startOperations(values['ops-host'], values['ops-port'], store, log);
      const service = await startService(listenConfig(values), store, log).catch(async (error) => {
        await operations.close();
        throw error;
      });
      output.remark(
        `Serving ${environment} at ${service.publicUrl}/network/v1, operations at ${operations.url}.`,
      );
      await stopOn(signal, values['drain-delay'], operations.drain, async () => {
        await service.close();
        await operations.close();
      });
    } finally {
      await store.close();
    }
  },
});
