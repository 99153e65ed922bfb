import { command, printReport } from '@partner-network/common/command-line/command';
import { addedIn, flag } from '@partner-network/common/command-line/options';
import { databaseConfig, needsPostgres } from '@partner-network/service/settings';
import { toDistribute, toUpdate } from '@partner-network/store/address';
import type { Migration } from '@partner-network/store/port';
import { roleNames, roles, statementsOf } from '@partner-network/store/postgres/roles';
import { onDatabase } from './database.ts';

export const migrate = onDatabase({
  options: {
    ...addedIn('0.2.0', { distribute: flag('also spread the tables over the nodes of a Citus cluster') }),
    ...addedIn('0.3.0', { roles: flag('also run the SQL of "roles"') }),
  },
  conflicts: (values) =>
    (['distribute', 'roles'] as const)
      .filter((name) => values[name] && databaseConfig(values).database.engine === 'sqlite')
      .map((name) => needsPostgres(`--${name}`)),
  role: 'owner',
  longOpening: 'migrating the database',
  opening: ({ distribute, roles: grantsRoles }) => ({
    ...(distribute ? toDistribute : toUpdate),
    grantsRoles,
  }),
  run: async ({ store: { environment, location, migration }, values: { distribute }, output }) => {
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

const heading = `\
-- The roles of the database, with the least that each needs. Run this after every "partner-network
-- migrate", as a superuser or as the owner of the tables with CREATEROLE. Then give each person and each
-- program a login of their own, such as:
--     create role alice login password '…' in role network_support;`;

export const printRoles = command({
  options: addedIn('0.2.0', {
    distributed: flag('for tables that Citus distributes: privileges on whole tables, not on columns'),
    json: flag('print one JSON document'),
  }),
  run: async ({ distributed, json }, _words, output) => {
    const found = roleNames.map((name) => ({ name, sql: statementsOf(name, distributed) }));
    const sections = found.map(({ name, sql }) => `-- ${roles[name].about}\n${sql.join('\n')}`);
    printReport(
      { value: { roles: found }, text: [heading, 'begin;', ...sections, 'commit;'].join('\n\n') },
      json,
      output,
    );
  },
});
