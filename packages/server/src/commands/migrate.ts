import { onDatabase } from './database.ts';

export const migrate = onDatabase({
  options: {},
  purpose: () => 'migrate',
  run: async ({ environment, migration: { from, to } }) => ({
    value: { environment, from, to },
    text:
      from === to
        ? `The ${environment} database is current: schema ${to}.`
        : `The ${environment} database went from schema ${from} to ${to}.`,
  }),
});
