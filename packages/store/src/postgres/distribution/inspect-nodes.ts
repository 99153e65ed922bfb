/** `doctor`: whether all nodes answer, with the right tables and settings. */
import { asOne, type Finding, failed, ok, warning } from '@partner-network/common/finding';
import type { Connection } from '../connections/connection.ts';
import { roleSettings } from './distribute.ts';
import { createProbe, type Run, silenceOf } from './nodes.ts';
import type { Tables } from './tables.ts';

export async function inspectNodes(run: Run): Promise<Finding> {
  const { nodes, silent, tables } = await createProbe(run)();
  if (silent.length > 0) {
    return failed(
      silent.map((node) => `${silenceOf(node)} ${node.reason}`).join(' '),
      tables === undefined
        ? 'Look for locks and long statements in pg_stat_activity.'
        : 'Start the node, and check that the coordinator reaches it with the role that serves.',
    );
  }
  if (tables === undefined) return ok('The database is on one node. The statements of both listings run.');
  const findings = [judgeTables(tables), await run(inspectRole)].filter((each) => each !== undefined);
  return findings.length > 0 ? asOne(findings) : ok(`${nodes.length} nodes with records answer.`);
}

function judgeTables({ distributed, local, wrong }: Tables): Finding | undefined {
  const remedy = 'Run "partner-network migrate --distribute" with the role that owns the database.';
  if (distributed.length === 0) {
    return warning('The database has Citus, but no table is distributed: one node does all work.', remedy);
  }
  const names = [...local, ...wrong].join(', ');
  return names === ''
    ? undefined
    : failed(`These tables are not distributed, or in a wrong way: ${names}.`, remedy);
}

const settingsOnNodes = `
  select quote_ident(current_user) as role, quote_ident(current_database()) as database, success, result
  from run_command_on_all_nodes($1)`;

async function inspectRole(connection: Connection): Promise<Finding | undefined> {
  const names = Object.keys(roleSettings).join(',');
  const read = `select json_object_agg(name, setting) from pg_settings where name = any ('{${names}}')`;
  const { rows } = await connection.query(settingsOnNodes, [read]);
  const found = rows.map(({ success, result }) => (success ? JSON.parse(result) : {}));
  const { role, database } = rows[0];
  const statements = Object.entries(roleSettings)
    .filter(([name, value]) => found.some((settings) => settings[name] !== value))
    .map(([name, value]) => `alter role ${role} in database ${database} set ${name} = '${value}';`);
  if (statements.length === 0) return undefined;
  return warning(
    `Not all nodes have the settings of the role ${role}: they read more than a page needs.`,
    `Run as a superuser on the coordinator: ${statements.join(' ')}`,
  );
}
