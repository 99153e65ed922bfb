import { onDatabase } from './database.ts';

export const migrate = onDatabase({
  options: {},
  purpose: () => 'migrate',
  run: async ({ environment, migration: { from, to } }) => ({
    value: { environment, from, to },
    text:
      from === to
        ? `The ${environment} database already has the current schema, ${to}.`
        : from === 0
          ? `Created the ${environment} database with schema ${to}.`
          : `Updated the ${environment} database from schema ${from} to ${to}.`,
  }),
});
