import { adminBounds } from '@partner-network/common/bounds/operator';
import { cursorsBounds } from '@partner-network/common/bounds/service';
import { postgresBounds } from '@partner-network/common/bounds/store';
import { within } from '@partner-network/common/timeout';
import type { Environment } from '@partner-network/contract/environments';
import type { OpenOptions } from '../address.ts';
import type { Migration, Store } from '../port.ts';
import { createManagement } from '../sql/accounts.ts';
import { triedStatement } from '../sql/audit.ts';
import type { Differences } from '../sql/statement.ts';
import {
  addressOf,
  type Connection,
  instancePrefix,
  instancesBeside,
  tryStatement,
  urlUnderName,
} from './connections/connection.ts';
import { late, translated, unreachable } from './connections/errors.ts';
import { Pool, type PoolSettings, type ReadPool } from './connections/pool.ts';
import { PrimaryWatch } from './connections/primary-watch.ts';
import { createReplicas } from './connections/replicas.ts';
import { connectToPrimary, examine } from './connections/server.ts';
import { distribute, requireDistributable } from './distribution/distribute.ts';
import { createReadiness } from './distribution/nodes.ts';
import { limitSlowNodes } from './distribution/slow-nodes.ts';
import { hasCitus, replicasOfCitus, tablesOf } from './distribution/tables.ts';
import { createImports } from './imports/imports.ts';
import { importLock } from './imports/kind-writes.ts';
import { inTransaction, migrate, requireCurrent } from './migrate.ts';
import { requirePrivileges } from './privileges.ts';
import { createExport, createReads } from './reads.ts';
import { createReceipts } from './receipts.ts';
import { roleNames, statementsOf } from './roles.ts';

const differences: Differences = {
  locks: {
    createGrant: [importLock('grants', 'shared')],
    // An erasure waits for imports of the customer's records, and they wait for it.
    eraseCustomer: [importLock('balances', 'exclusive'), importLock('grants', 'exclusive')],
    // The lock is "PNck". A concurrent rotation waits for it, and then sees the new key.
    rotateCursorKey: [
      `set local lock_timeout = ${cursorsBounds.keyLockMs}`,
      `select pg_advisory_xact_lock(${0x504e636b})`,
    ],
  },
  clock: 'select clock_timestamp() as now',
  transactions: `
    select pg_snapshot_xmin(s)::text as oldest, pg_snapshot_xmax(s)::text as next
    from pg_current_snapshot() s`,
  // Finds each range by the primary key, whatever the statistics say.
  auditInRanges: (columns) => `
    select a.* from json_array_elements($3::json) as range
    join lateral (
      select ${columns} from audit_log
      where seq between (range.value ->> 0)::bigint and (range.value ->> 1)::bigint order by seq limit $2
    ) as a on true order by seq limit $2`,
};

export async function openPostgres(
  addresses: readonly string[],
  environment: Environment,
  options: OpenOptions,
): Promise<Store> {
  const { connections = 1, keepsSession = true, answersRequests = false, instance, lockMs } = options;
  const named = (url: string) =>
    instance === undefined ? url : urlUnderName(url, `${instancePrefix}${instance}`);
  const urls = addresses.map(named);
  const replicaUrls = (options.replicas ?? []).map(named);
  const first = await connectToPrimary(urls);
  const migration = await prepareSchema(first.connection, environment, options);
  const isSpread = answersRequests && (await hasCitus(first.connection));
  const primaryWatch = new PrimaryWatch(urls, environment, first);
  const settings = { connections, keepsSession, answersRequests };
  const primary = new Pool({ ...settings, source: primaryWatch, lockMs });
  // Not behind a pooler, and not on Citus, where statements to good nodes could get behind a frozen node.
  const shares = answersRequests && keepsSession && !isSpread;
  const readers: ReadPool = shares ? new Pool({ ...settings, source: primaryWatch, shares }) : primary;
  // A separate connection: receipts and key uses are written even while all others are busy.
  const separate = (name: string, more: Partial<PoolSettings> = { connections: 1 }) =>
    new Pool({ ...settings, source: primaryWatch, name: `partner-network ${name}`, ...more });
  const journal = answersRequests ? separate('receipts') : primary;
  const nodes = isSpread ? separate('nodes') : undefined;
  // One connection is enough, and one more for each frozen node.
  const { mostConnections, probeStatementMs, probeLifetimeMs } = postgresBounds;
  const probes = separate('readiness', {
    connections: mostConnections,
    statementMs: probeStatementMs,
    lifetimeMs: probeLifetimeMs,
  });
  const readiness = createReadiness(probes.onConnection);
  const replicas =
    replicaUrls.length === 0
      ? undefined
      : createReplicas(primaryWatch, replicaUrls, environment, { ...settings, shares });
  return {
    environment,
    location: `${addressOf(first.url)}/${first.connection.database}`,
    migration,
    metrics: [...readers.metrics, ...(replicas?.metrics ?? [])],
    ...createReads(readers, replicas, nodes && limitSlowNodes(nodes.rows, connections / 2)),
    ping: () => primaryWatch.ping().then(readiness),
    tryWrite: () =>
      probes.onConnection((connection) => {
        const trying = tryStatement(connection, triedStatement(), adminBounds.changeMs);
        return within(probeStatementMs, trying, late);
      }),
    ...createManagement(primary, differences),
    ...createReceipts(journal, isSpread),
    exportRecords: createExport(primary),
    ...createImports(async (name) => {
      const { connection } = await connectToPrimary(urls.map((url) => urlUnderName(url, name)));
      try {
        await examine(connection, 'primary', environment, postgresBounds.commandStatementMs);
        return connection;
      } catch (error) {
        connection.abandon();
        throw unreachable(error);
      }
    }, primary.rows),
    otherInstances: () => instancesBeside(journal.rows, instance),
    close: async () => {
      await replicas?.close();
      await nodes?.close();
      await probes.close();
      await journal.close();
      await readers.close();
      await primary.close();
      await primaryWatch.close();
    },
  };
}

/** All roles at once, or none. */
async function grantRoles(connection: Connection): Promise<void> {
  const isDistributed = (await hasCitus(connection)) && (await tablesOf(connection)).distributed.length > 0;
  await inTransaction(connection, async () => {
    for (const name of roleNames) {
      for (const statement of statementsOf(name, isDistributed)) await connection.query(statement);
    }
  });
}

async function prepareSchema(
  connection: Connection,
  environment: Environment,
  { schema, grantsRoles, role, replicas = [] }: OpenOptions,
): Promise<Migration> {
  try {
    if (schema === 'update' || schema === 'distribute') {
      const distributes = schema === 'distribute';
      if (distributes) await requireDistributable(connection);
      const last = async () => {
        if (distributes) await distribute(connection);
        if (grantsRoles) await grantRoles(connection);
      };
      const migration = await migrate(connection, environment, undefined, last);
      return (await hasCitus(connection)) ? { ...migration, ...(await tablesOf(connection)) } : migration;
    }
    if (replicas.length > 0 && (await hasCitus(connection))) throw replicasOfCitus();
    const migration = await requireCurrent(connection, environment);
    if (role !== undefined) await requirePrivileges(connection, role);
    return migration;
  } catch (error) {
    await connection.leave();
    throw translated(error);
  }
}
