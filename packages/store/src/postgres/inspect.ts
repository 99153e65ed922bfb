import { setTimeout as wait } from 'node:timers/promises';
import { doctorBounds } from '@partner-network/common/bounds/operator';
import { postgresBounds } from '@partner-network/common/bounds/store';
import { type Finding, failed, ok, warning } from '@partner-network/common/finding';
import { within } from '@partner-network/common/timeout';
import type { Environment } from '@partner-network/contract/environments';
import type { Inspected } from '../inspection.ts';
import { StoreUnavailable } from '../port.ts';
import { triedStatement } from '../sql/audit.ts';
import { readLastUses } from '../sql/journal.ts';
import { Unusable } from '../sql/schema.ts';
import { addressOf, type Connection, instancesBeside, tryStatement } from './connections/connection.ts';
import { translated, unreachable } from './connections/errors.ts';
import { positionOf } from './connections/replicas.ts';
import {
  examine,
  examineReplica,
  isCopy,
  isSame,
  type Miss,
  type Reached,
  reach,
  searchPrimary,
  withoutPrimary,
} from './connections/server.ts';
import { inspectNodes } from './distribution/nodes.ts';
import { hasCitus, replicasOfCitus } from './distribution/tables.ts';
import { migrations, requireServer, stampOf } from './migrate.ts';
import { privilegesOf } from './privileges.ts';
import { replayed, type Statement, written } from './statements.ts';

/** What to do if a server cannot be used, by the beginning of the code in a `Miss`. */
const remedies: readonly [code: string, remedy: string][] = [
  ['standby', 'Set --database to the primary.'],
  ['28P01', 'Correct the password: in the URL, PGPASSWORD or the password file.'],
  ['28', "Correct the user in the URL, or allow it in the server's pg_hba.conf."],
  ['3D000', 'Create the database, or correct its name at the end of the URL.'],
  ['42501', 'Grant the role the right to connect to the database.'],
  ['53300', "Raise the server's max_connections, or lower --connections and --workers."],
  ['57P03', 'Wait until the server has started.'],
  ['ECONNREFUSED', 'Start the server, or correct the host and port in the URL.'],
  ['ENOTFOUND', 'Correct the host in the URL.'],
  ['EAI_AGAIN', 'Correct the host in the URL, or check the name server.'],
  ['ENOENT', 'Correct the path of the certificate or key in the URL.'],
  ['', 'Correct the URL, or check the server and the network: firewall, TLS, proxy.'],
];

function remedyOf(code = ''): string {
  return remedies.find(([prefix]) => code.startsWith(prefix))![1];
}

export async function inspectPostgres(
  urls: readonly string[],
  replicaUrls: readonly string[],
  environment: Environment,
): Promise<Inspected> {
  const { primary, misses, rivals } = await searchPrimary(urls);
  const standbys = misses.filter(({ code }) => code === 'standby').map(({ url }) => url);
  const copies = new Map([...standbys, ...replicaUrls].map((url) => [addressOf(url), url]));
  const replicas = await Promise.all(
    copies.values().map((url) => inspectCopy(url, environment, primary, urls, replicaUrls.includes(url))),
  );
  const away = misses.filter(({ code }) => code !== 'standby');
  if (primary === undefined) {
    const remedy = remedyOf((away[0] ?? misses[0]!).code);
    const promotion =
      away[0] && standbys[0]
        ? ` If ${away[0].address} is lost, cut it off, and promote ${addressOf(standbys[0])}.`
        : '';
    return { finding: failed(withoutPrimary(misses), remedy + promotion), replicas, disks: [] };
  }
  const { connection, url } = primary;
  const spare = spareConnections(url);
  const rows = (text: string, ...values: unknown[]) =>
    readOnly(connection, async () => (await connection.query(text, values)).rows);
  const inspection = {
    engine: 'postgres' as const,
    currentVersion: migrations.current,
    rows,
    stamp: () => readOnly(connection, () => stampOf(connection)),
    privileges: (service?: 'network_serve' | 'network_admin') =>
      readOnly(connection, () => privilegesOf(connection, service)),
    tryWrite: () => inTime(connection, tryStatement(connection, triedStatement(), doctorBounds.statementMs)),
    instances: () => instancesBeside(rows),
    nodes: () => inspectNodes(spare.run),
    lastUses: (keyIds: readonly string[]) => readLastUses(rows, 'json_array_elements_text($1)', keyIds),
    close: () => {
      spare.close();
      return connection.leave();
    },
  };
  const finding = await readOnly(connection, () => inspectServer(primary, standbys, away, rivals)).catch(
    (error: Error) =>
      error instanceof Unusable ? error.finding('instead, ') : failed(error.message, remedyOf()),
  );
  return { finding, replicas, disks: [], inspection };
}

/** `away` are the other addresses of the database that cannot be reached. */
async function inspectServer(
  { connection, url, server }: Reached,
  standbys: readonly string[],
  away: readonly Miss[],
  rivals: readonly Reached[],
): Promise<Finding> {
  const version = await requireServer(connection);
  const address = addressOf(url);
  const stranger = rivals.find((rival) => !isCopy(rival.server, server));
  if (stranger !== undefined) {
    const other = addressOf(stranger.url);
    return failed(`${other} is not a copy of ${address}.`, `Remove ${other} from --database.`);
  }
  if (rivals.length > 0) {
    const others = rivals.map((rival) => addressOf(rival.url)).join(' and ');
    const what = `${address} and ${others} both accept writes. serve uses ${address}`;
    const remedy = `Shut ${others} down, and start it again only as a standby of ${address}.`;
    return failed(`${what}: what is written to ${others} is lost.`, remedy);
  }
  const reached = `Postgres ${version} at ${address} answers`;
  if (away[0] === undefined) {
    const copies = standbys.map(addressOf).join(' and ');
    return ok(
      standbys.length === 0 ? `${reached}.` : `${reached} as the primary. A standby is at ${copies}.`,
    );
  }
  const where = away.map(({ address, reason }) => `${address} (${reason})`).join(', ');
  const standby = `If it was the primary before, start it only as a standby of ${address}.`;
  return warning(
    `${reached}, but a failover is not possible to ${where}.`,
    `${remedyOf(away[0].code)} ${standby}`,
  );
}

/** Runs the work in a read-only transaction with timeouts, and ends the transaction even if it fails. */
async function readOnly<Result>(connection: Connection, work: () => Promise<Result>): Promise<Result> {
  const { statementMs } = doctorBounds;
  // `pg` parses times in ISO style only.
  const settings = `set local statement_timeout = ${statementMs}; set local datestyle = 'ISO'`;
  const answering = connection
    .query(`begin read only; ${settings}`)
    .then(work)
    .finally(() => connection.query('rollback').catch(() => {}));
  return inTime(connection, answering);
}

/** If the server does not answer in time, this and all later questions fail. */
function inTime<Result>(connection: Connection, answering: Promise<Result>): Promise<Result> {
  const late = () => {
    connection.abandon();
    return new Error('the connection was lost');
  };
  return within(doctorBounds.answerMs, answering, late).catch((error) => {
    throw translated(error);
  });
}

/**
 * Connections beside the first: a node that does not answer keeps its connection busy. A free one is used
 * again, because opening one takes most of the time of a check if the server is in another region.
 */
function spareConnections(url: string) {
  const idle: Connection[] = [];
  return {
    run: async <Result>(work: (opened: Connection) => Promise<Result>): Promise<Result> => {
      const connection = idle.pop() ?? (await connectTo(url));
      try {
        const result = await readOnly(connection, () => work(connection));
        idle.push(connection);
        return result;
      } catch (error) {
        connection.abandon();
        throw error;
      }
    },
    close: () => {
      for (const connection of idle) connection.abandon();
    },
  };
}

async function connectTo(url: string): Promise<Connection> {
  const reached = await reach(url, postgresBounds.connectMs);
  if ('reason' in reached) throw new StoreUnavailable(reached.reason);
  return reached.connection;
}

/** Checks a replica, or a standby among the addresses of the database. It must be a copy of the primary. */
async function inspectCopy(
  url: string,
  environment: Environment,
  primary: Reached | undefined,
  addresses: readonly string[],
  isReplica: boolean,
): Promise<Finding> {
  const address = addressOf(url);
  const reached = await reach(url, postgresBounds.connectMs);
  if ('reason' in reached) {
    const { reason, code } = reached;
    return failed(`The replica at ${address} cannot be reached (${reason}).`, remedyOf(code));
  }
  const { connection } = reached;
  try {
    if (primary !== undefined) {
      if (isReplica && (await hasCitus(primary.connection))) return replicasOfCitus().finding('instead, ');
      // After a failover, the replica of a region is the primary.
      if (addresses.length > 1 && isSame(reached.server, primary.server)) {
        return ok(`${address} is the primary now, so all pages are read from it.`);
      }
      await examineReplica(connection, environment, primary.server);
      return await judgeLag(address, connection, primary.connection);
    }
    await examine(connection, 'standby', environment);
    return ok(`${address} is a standby. Its primary was not checked.`);
  } catch (error) {
    const remedy = 'Set --replica to a streaming standby of this database, or leave it out.';
    return failed(`${address}: ${unreachable(error).message}`, remedy);
  } finally {
    connection.abandon();
  }
}

/** The lag is the time that the standby takes to replay up to the primary's current position. */
async function judgeLag(address: string, standby: Connection, primary: Connection): Promise<Finding> {
  const before = await positionOn(standby, replayed);
  const startedMs = performance.now();
  const goal = await positionOn(primary, written);
  if (before > goal) {
    const remedy = 'It follows a former primary. Copy it again from this primary.';
    return failed(`The standby at ${address} is ahead of the primary.`, remedy);
  }
  const remedy =
    'On it, check that it streams (pg_stat_wal_receiver), that replay is not paused, and what else runs.';
  // Every role sees whether a receiver runs.
  if ((await standby.query('select from pg_stat_wal_receiver')).rowCount === 0) {
    return warning(`The standby at ${address} does not receive the log of the primary.`, remedy);
  }
  const behindMs = () => performance.now() - startedMs;
  for (let reached = before; reached < goal; reached = await positionOn(standby, replayed)) {
    if (behindMs() > postgresBounds.replicaLagMs) {
      const lag = `more than ${postgresBounds.replicaLagMs / 1_000} s behind, by ${goal - reached} bytes`;
      const effect = 'It is not read from, and a failover would lose the latest changes.';
      return warning(`The standby at ${address} is ${lag}. ${effect}`, remedy);
    }
    await wait(doctorBounds.lagMs);
  }
  return ok(`${address} is a standby, at most ${(Math.ceil(behindMs() / 100) / 10).toFixed(1)} s behind.`);
}

async function positionOn(connection: Connection, { text }: Statement): Promise<bigint> {
  const query = { text, query_timeout: postgresBounds.replicaAnswerMs };
  return positionOf((await connection.query(query)).rows);
}
