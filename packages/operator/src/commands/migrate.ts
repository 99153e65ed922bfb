import { addedIn, flag } from '@partner-network/common/command-line/options';
import { databaseConfig, needsPostgres } from '@partner-network/service/settings/database';
import type { Migration } from '@partner-network/store/port';
import { onDatabase } from './database.ts';

export const migrate = onDatabase({
  options: addedIn('0.2.0', { distribute: flag('also spread the tables over the nodes of a Citus cluster') }),
  conflicts: (values) =>
    values.distribute && databaseConfig(values).database.engine === 'sqlite'
      ? [needsPostgres('--distribute')]
      : [],
  purpose: ({ distribute }) => (distribute ? 'distribute' : 'migrate'),
  run: async ({ environment, location, migration }, { distribute }, _words, output) => {
    const { from, to, distributed = [], local = [] } = migration;
    if (local.length > 0) {
      output.remark(
        `Citus is installed here, but not distributed: ${local.join(', ')}. ` +
          'Run "partner-network migrate --distribute" before you import data.',
      );
    }
    return {
      value: { environment, from, to, ...(distribute && { distributed }) },
      text:
        schemaText(`${environment} database ${location}`, migration) +
        (distribute ? ` Its nodes share the tables ${distributed.join(', ')}.` : ''),
    };
  },
});

function schemaText(database: string, { from, to }: Migration): string {
  if (from === to) return `The ${database} already has the current schema, ${to}.`;
  return from === 0
    ? `Created the ${database} with schema ${to}.`
    : `Updated the ${database} from schema ${from} to ${to}.`;
}
