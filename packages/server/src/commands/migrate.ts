import { command, tell } from '../command-line/command.ts';
import { flag } from '../command-line/options.ts';
import { databaseConfig, databaseSettings } from '../config.ts';
import { withNewStore } from './database.ts';

export const migrate = command({
  options: { ...databaseSettings, json: flag('print one JSON document') },
  run: async (values, _words, output) =>
    withNewStore(databaseConfig(values), async ({ environment, migration: { from, to } }) => {
      tell(output, values.json, { environment, from, to }, () =>
        from === to
          ? `The ${environment} database is current: schema ${to}.`
          : `The ${environment} database went from schema ${from} to ${to}.`,
      );
    }),
});
