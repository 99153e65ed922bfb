import { command, printReport } from '@partner-network/common/command-line/command';
import { addedIn, flag } from '@partner-network/common/command-line/options';
import { type RoleName, roles, statementsOf } from '@partner-network/store/postgres/roles';

const names = Object.keys(roles) as RoleName[];

const heading = `\
-- The roles of the database, with the least that each needs. Run this as the owner of the tables, after
-- every "partner-network migrate". Then give each person and each program a role of their own, such as:
--     create role alice login password '…' in role network_support;`;

export const printRoles = command({
  options: addedIn('0.2.0', { json: flag('print one JSON document') }),
  run: async ({ json }, _words, output) => {
    const found = names.map((name) => ({ name, sql: statementsOf(name) }));
    const sections = found.map(({ name, sql }) => `-- ${roles[name].about}\n${sql.join('\n')}`);
    printReport(
      { value: { roles: found }, text: [heading, 'begin;', ...sections, 'commit;'].join('\n\n') },
      json,
      output,
    );
  },
});
