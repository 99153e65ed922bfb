import { postgresBounds } from '@partner-network/common/bounds/postgres';
import { createHistogram, type Metric, metric, metricOf } from '@partner-network/common/observability/metric';
import { traced } from '@partner-network/common/observability/span';
import { within } from '@partner-network/common/timeout';
import { createWaitQueue } from '@partner-network/common/wait-queue';
import type { StoreOptions } from '../../address.ts';
import { StoreUnavailable } from '../../port.ts';
import type { Row, Sql, Value } from '../../sql/statement.ts';
import { replayed, type Statement } from '../statements.ts';
import { begin, Connection, urlUnderName } from './connection.ts';
import { breaksConnection, translated, unreachable } from './errors.ts';
import { runPrepared } from './prepared.ts';

/** The server that a pool connects to. */
export interface Source {
  /** Its current address, which changes on a failover. */
  readonly url: string;
  /** Resolves when the server can be used, usually at once. Rejects after a short wait. */
  whenAvailable(): Promise<void>;
  /** Rejects a new connection that leads to a wrong server. */
  examine(connection: Connection, timeoutMs?: number): Promise<void>;
  /** Calls back when a lost server is found again. `isOther` says whether another server took its place. */
  onReturn?(listener: (isOther: boolean) => void): void;
}

export interface PoolSettings extends Pick<StoreOptions, 'connections' | 'keepsSession'> {
  readonly source: Source;
  /** True if the pool serves requests, whose statements have a short timeout. Commands may take longer. */
  readonly isServing: boolean;
  /** The `application_name` of its connections, if it differs from the name in the address. */
  readonly name?: string;
  /** How long a caller waits for a connection. */
  readonly waitMs?: number;
  /** The timeout of a statement. */
  readonly statementMs?: number;
}

export type Rows = readonly Row[];

export type Pool = ReturnType<typeof createPool>;

/** `pg` parses times in this style only. */
const timeStyle = '-c datestyle=ISO';

/**
 * Settings that allow index scans only. Without statistics, as after a large import, the planner would choose
 * to read or sort whole tables, and the prepared statement would keep that plan.
 */
export const indexScansOnly = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_incremental_sort: 'off',
  jit: 'off',
};

/** The settings of a session that serves requests. On Citus, `examine` sets another plan_cache_mode. */
export const planSettings = [
  ...Object.entries(indexScansOnly).map(([name, value]) => `-c ${name}=${value}`),
  '-c plan_cache_mode=force_generic_plan',
  timeStyle,
].join(' ');

const late = () => new Error('Query read timeout');

class PooledConnection extends Connection {
  readonly openedMs = performance.now();
  idleSinceMs = 0;
  /** Set when it must be closed instead of becoming idle. */
  isRetired = false;
}

/**
 * A pool of connections that stay open between statements. `pg.Pool` did the same, but checking a connection
 * out and in took 17 to 20 % of a statement's CPU. A connection is opening, busy or idle:
 *
 *     opening -> busy     it connected to the right server, for its caller or the longest waiting caller
 *     busy -> busy        its statement is done, and the longest waiting caller gets it
 *     busy -> idle        its statement is done, and no caller waits
 *     idle -> busy        a caller takes the connection that became idle last
 *     any -> closed       it broke, is older than its lifetime, was idle for too long, or the server was lost
 */
export function createPool(settings: PoolSettings) {
  const { source, connections: max, keepsSession, isServing, name } = settings;
  const { waitMs = postgresBounds.postgresPoolWaitMs } = settings;
  /** All connections that are opening, busy or idle, oldest first. */
  const all = new Set<PooledConnection>();
  const idle: PooledConnection[] = [];
  const waitSeconds = createHistogram([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25]);
  let waitTimeouts = 0;
  const waiting = createWaitQueue<PooledConnection>(waitMs, () => {
    waitTimeouts += 1;
    return new StoreUnavailable('All connections to the database are in use.');
  });
  const upkeep = setInterval(retireOne, postgresBounds.postgresUpkeepMs).unref();
  let closing: PromiseWithResolvers<void> | undefined;

  const { postgresStatementMs, commandStatementMs } = postgresBounds;
  const query_timeout = settings.statementMs ?? (isServing ? postgresStatementMs : commandStatementMs);
  const config = {
    // A pooler forwards no session settings: docs/how-to/operators/postgres-connections.md sets them.
    ...(keepsSession && { options: isServing ? planSettings : timeStyle }),
    ...(!isServing && { connectionTimeoutMillis: postgresBounds.commandConnectMs }),
    ...(isServing && keepsSession && { statement_timeout: query_timeout }),
  };

  async function open(): Promise<PooledConnection> {
    let connection: PooledConnection | undefined;
    try {
      if (closing !== undefined) throw new StoreUnavailable('The database is closed.');
      const connectionString = name === undefined ? source.url : urlUnderName(source.url, name);
      const opened = new PooledConnection({ ...config, connectionString });
      connection = opened;
      all.add(opened);
      // The error comes first: no caller may take the connection between the two events.
      opened.once('error', () => retire(opened)).once('end', () => retire(opened));
      await opened.connect();
      // A command waits for a busy server. A request must be answered in time.
      await source.examine(opened, isServing ? undefined : query_timeout);
      return opened;
    } catch (error) {
      if (connection !== undefined) remove(connection);
      throw unreachable(error);
    }
  }

  /** Opens a connection for a waiting caller if the pool is not full. */
  function openForWaiting(): void {
    if (waiting.length === 0 || all.size >= max) return;
    open().then(release, (error) => {
      waiting.fail(error);
      openForWaiting();
    });
  }

  function remove(connection: PooledConnection): void {
    all.delete(connection);
    void connection.leave();
    if (all.size === 0) closing?.resolve();
    // Not now: if it did not open, its own caller has to fail first.
    setImmediate(openForWaiting);
  }

  /** Closes the connection: now if it is idle, or else when its work is done. */
  function retire(connection: PooledConnection): void {
    connection.isRetired = true;
    const place = idle.indexOf(connection);
    if (place === -1) return;
    idle.splice(place, 1);
    remove(connection);
  }

  /** Retires one connection that is too old or was idle for too long. One at a time, to spread the load. */
  function retireOne(): void {
    const nowMs = performance.now();
    const { postgresLifetimeMs, postgresIdleMs } = postgresBounds;
    const due =
      all.values().find(({ openedMs, isRetired }) => !isRetired && nowMs - openedMs > postgresLifetimeMs) ??
      idle.find(({ idleSinceMs }) => nowMs - idleSinceMs > postgresIdleMs);
    if (due !== undefined) retire(due);
  }

  /** Busy connections may finish, unless they lead to a server that is gone. */
  function retireAll(isOther: boolean): void {
    for (const connection of all) {
      retire(connection);
      if (isOther) connection.abandon();
    }
  }

  // Also if the same server returns: a connection can be dead without any error.
  source.onReturn?.(retireAll);

  async function acquire(): Promise<PooledConnection> {
    await source.whenAvailable();
    const connection = idle.pop();
    if (connection !== undefined) return connection;
    if (all.size < max) return open();
    const startMs = performance.now();
    try {
      return await traced('wait for a connection', 'internal', {}, waiting.wait);
    } finally {
      waitSeconds.observe((performance.now() - startMs) / 1_000);
    }
  }

  function release(connection: PooledConnection): void {
    if (connection.isRetired) {
      remove(connection);
    } else if (!waiting.give(connection)) {
      connection.idleSinceMs = performance.now();
      idle.push(connection);
    }
  }

  async function onConnection<Result>(work: (client: PooledConnection) => Promise<Result>): Promise<Result> {
    const connection = await acquire();
    try {
      return await work(connection);
    } catch (error) {
      if (breaksConnection(error)) connection.isRetired = true;
      throw translated(error);
    } finally {
      release(connection);
    }
  }

  function run(connection: Connection, statement: Statement, values: readonly Value[]): Promise<Rows> {
    const { name, text } = statement;
    const running: Promise<Rows> =
      keepsSession && name !== undefined
        ? runPrepared(connection, statement, values)
        : connection.query({ text, values: values as Value[] }).then(({ rows }) => rows);
    return within(query_timeout, running, late);
  }

  /** The numbers of connections, busy connections, and callers that wait for a connection. */
  const use = () => ({ open: all.size, busy: all.size - idle.length, waiting: waiting.length });

  const metrics: Metric[] = [
    metric('partner_network_database_connections', use),
    metricOf('partner_network_database_wait_seconds', () => waitSeconds.read()),
    metric('partner_network_database_wait_timeouts_total', () => waitTimeouts),
  ];

  return {
    use,
    metrics,
    onConnection,

    /** Calls `begun` when the statement has a connection. */
    query: (statement: Statement, values: readonly Value[], begun?: () => void) =>
      onConnection((connection) => {
        begun?.();
        return run(connection, statement, values);
      }),

    /** Reads how far a standby has replayed, then runs the statement; both within `timeoutMs`. */
    queryAfterProgress: (statement: Statement, values: readonly Value[], timeoutMs: number) =>
      onConnection((connection) => {
        const both = run(connection, replayed, []).then(
          async (progress): Promise<[Rows, Rows]> => [progress, await run(connection, statement, values)],
        );
        return within(timeoutMs, both, late);
      }),

    /** Runs the work on one connection, and commits all of it or nothing. */
    transaction: <Result>(
      work: (connection: Connection) => Promise<Result>,
      end: 'commit' | 'rollback' = 'commit',
    ) =>
      onConnection(async (connection) => {
        try {
          await connection.query(begin);
          const result = await work(connection);
          await connection.query(end);
          return result;
        } catch (error) {
          // If the connection is lost, the server rolls back by itself.
          await connection.query('rollback').catch(() => retire(connection));
          throw error;
        }
      }),

    async close(): Promise<void> {
      if (closing !== undefined) return;
      closing = Promise.withResolvers<void>();
      clearInterval(upkeep);
      retireAll(false);
      if (all.size === 0) return;
      // Statements that still run have outlived their requests, or the server is frozen.
      setTimeout(retireAll, postgresBounds.postgresCloseMs, true).unref();
      await closing.promise;
    },
  };
}

/** Statements of operators' commands, which are not prepared. */
export function sqlOn(pool: Pool): Sql {
  return {
    rows: (text, ...values) => pool.query({ text }, values),
    transaction: (steps, mode = 'keep') => {
      const work = async (connection: Connection) => {
        const running = steps();
        let step = running.next();
        while (!step.done) {
          const [text, ...values] = step.value;
          step = running.next((await connection.query(text, values)).rows);
        }
        return step.value;
      };
      return pool.transaction(work, mode === 'keep' ? 'commit' : 'rollback');
    },
  };
}
