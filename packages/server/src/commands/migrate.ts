import { tell } from '../command-line/command.ts';
import { onDatabase } from './database.ts';

export const migrate = onDatabase({
  options: {},
  purpose: 'migrate',
  run: async ({ environment, migration: { from, to } }, values, _words, output) => {
    tell(output, values.json, { environment, from, to }, () =>
      from === to
        ? `The ${environment} database is current: schema ${to}.`
        : `The ${environment} database went from schema ${from} to ${to}.`,
    );
  },
});
