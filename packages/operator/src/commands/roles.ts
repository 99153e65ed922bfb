import { command, printReport } from '@partner-network/common/command-line/command';
import { addedIn, flag } from '@partner-network/common/command-line/options';
import { type RoleName, roles, statementsOf } from '@partner-network/store/postgres/roles';

const names = Object.keys(roles) as RoleName[];

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
    const found = names.map((name) => ({ name, sql: statementsOf(name, distributed) }));
    const sections = found.map(({ name, sql }) => `-- ${roles[name].about}\n${sql.join('\n')}`);
    printReport(
      { value: { roles: found }, text: [heading, 'begin;', ...sections, 'commit;'].join('\n\n') },
      json,
      output,
    );
  },
});
