/** Whether the statements of both listings run, on each node that has their records. */
import { postgresBounds } from '@partner-network/common/bounds/store';
import { asOne, type Finding, failed, ok, warning } from '@partner-network/common/finding';
import { within } from '@partner-network/common/timeout';
import { StoreUnavailable } from '../../port.ts';
import type { Connection } from '../connections/connection.ts';
import { balancesUnderAnyGrant, brandsPage } from '../statements.ts';
import { roleSettings } from './distribute.ts';
import { hasCitus, type Tables, tablesOf } from './tables.ts';

/** Runs the work on a connection that no other work waits for. */
type Run = <Result>(work: (connection: Connection) => Promise<Result>) => Promise<Result>;

/** A node, and ids of a partner and a customer that do not exist and whose records would be there. */
interface Node {
  /** Host and port, or undefined if the tables are not distributed. */
  readonly name: string | undefined;
  readonly partner: string | null;
  readonly customer: string | null;
}

interface Probed {
  readonly nodes: readonly Node[];
  /** Nodes without an answer, and why. */
  readonly silent: readonly { readonly name: string | undefined; readonly reason: string }[];
  /** Undefined without Citus. */
  readonly tables?: Tables | undefined;
}

const absent = 'absent-1';
const onlyNode: Node = { name: undefined, partner: absent, customer: absent };

/** With 500 ids and 32 shards, less than one shard in a million has none of them. It takes 2 ms. */
const nodesWithRecords = `
  select nodename || ':' || nodeport as name,
    min(id) filter (where relation = to_regclass('brands')) as partner,
    min(id) filter (where relation = to_regclass('balances')) as customer
  from (
    select logicalrelid as relation, id, get_shard_id_for_distribution_column(logicalrelid, id) as shardid
    from pg_dist_partition cross join (select 'absent-' || n as id from generate_series(1, 500) as n) as ids
    where logicalrelid in (to_regclass('brands'), to_regclass('balances')) and partmethod = 'h'
  ) as placed
  join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
  where noderole = 'primary' and isactive group by 1 order by 1`;

async function find(connection: Connection): Promise<Pick<Probed, 'nodes' | 'tables'>> {
  if (!(await hasCitus(connection))) return { nodes: [onlyNode] };
  const tables = await tablesOf(connection);
  const { rows } = await connection.query(nodesWithRecords);
  return { nodes: rows.length === 0 ? [onlyNode] : rows, tables };
}

/** Not in one transaction: its lock on the first table could deadlock with a migration. */
async function list(run: Run, { partner, customer }: Node): Promise<void> {
  if (partner !== null) await run((connection) => connection.query(brandsPage.text, [partner, '', 1]));
  if (customer === null) return;
  const values = [customer, '', 1, 'CHECKING', absent, 'infinity'];
  await run((connection) => connection.query(balancesUnderAnyGrant.text, values));
}

const late = () => new StoreUnavailable(`There was no answer within ${postgresBounds.probeMs} ms.`);

/** Rejects if a statement is refused, which concerns all nodes: a lost privilege, or a changed table. */
function createProbe(run: Run): () => Promise<Probed> {
  const unanswered = new Set<string | undefined>();

  /**
   * Leaves a statement without an answer alone, and sends no second one. To cancel it, the coordinator would
   * wait until the frozen node answers.
   */
  async function inTime<Result>(name: string | undefined, work: () => Promise<Result>): Promise<Result> {
    if (unanswered.has(name)) throw late();
    unanswered.add(name);
    const running = work().finally(() => unanswered.delete(name));
    return within(postgresBounds.probeMs, running, late);
  }

  return async () => {
    const silent: { name: string | undefined; reason: string }[] = [];
    const failed = (name: string | undefined) => (error: Error) => {
      if (!(error instanceof StoreUnavailable)) {
        throw new StoreUnavailable(`The statements of the listings do not run. ${error.message}`);
      }
      silent.push({ name, reason: error.message.replace(/\s+/g, ' ') });
    };
    const found = await inTime(undefined, () => run(find)).catch(failed(undefined));
    const { nodes, tables } = found ?? { nodes: [] };
    for (const node of nodes) await inTime(node.name, () => list(run, node)).catch(failed(node.name));
    return { nodes, silent, tables };
  };
}

/**
 * Probes at most once a second. Resolves to a sentence for each part of the database that does not work.
 * Connections of `run` live for `probeLifetimeMs`, so that a probe soon needs a new one. Without a new one
 * for `unopenedMs` it rejects: older connections still answer, but not for long. One attempt may fail.
 */
export function createReadiness(run: Run): () => Promise<readonly string[]> {
  let unopened: { readonly sinceMs: number; readonly fault: string } | undefined;
  const probe = createProbe(async (work) => {
    let isOpen = false;
    const running = run((connection) => {
      isOpen = true;
      unopened = undefined;
      return work(connection);
    });
    return running.catch((error: Error) => {
      const fault = `No new connection to the database can be opened. ${error.message}`;
      if (!isOpen) unopened = { sinceMs: unopened?.sinceMs ?? performance.now(), fault };
      throw error;
    });
  });
  let shared: Promise<readonly string[]> | undefined;

  async function check(): Promise<readonly string[]> {
    const { nodes, silent, tables } = await probe();
    if (unopened !== undefined) {
      const { sinceMs, fault } = unopened;
      if (performance.now() - sinceMs > postgresBounds.unopenedMs) throw new StoreUnavailable(fault);
      return [fault];
    }
    // Without a name it is slow. The watch of the primary decides whether it answers.
    if (silent.length === nodes.length && nodes[0]?.name !== undefined) {
      throw new StoreUnavailable(`No database node answers. ${silent[0]!.reason}`);
    }
    const strays = [...(tables?.local ?? []), ...(tables?.wrong ?? [])];
    return [
      ...silent.map(silenceOf),
      ...strays.map((name) => `The table ${name} is not distributed, or in a wrong way.`),
    ];
  }

  return () => {
    shared ??= check().finally(() => {
      setTimeout(() => (shared = undefined), postgresBounds.probeShareMs).unref();
    });
    return shared;
  };
}

function silenceOf({ name }: Pick<Node, 'name'>): string {
  return name === undefined
    ? 'The database is slow: the statements of the listings got no answer in time.'
    : `The database node ${name} does not answer: requests for its records get 503.`;
}

/** For `doctor`: whether all nodes answer, with the right tables and settings. */
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
