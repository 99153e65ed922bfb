import { onDatabase } from './database.ts';

export const migrate = onDatabase({
  options: {},
  purpose: () => 'migrate',
  run: async ({ environment, location, migration: { from, to } }) => ({
    value: { environment, from, to },
    text:
      from === to
        ? `The ${environment} database ${location} already has the current schema, ${to}.`
        : from === 0
          ? `Created the ${environment} database ${location} with schema ${to}.`
          : `Updated the ${environment} database ${location} from schema ${from} to ${to}.`,
  }),
});
