import pg from 'pg';
import { postgresBounds } from '../../../bounds/postgres.ts';
import { within } from '../../../lib/timeout.ts';
import { createHistogram, type Histogram } from '../../../observability/metric.ts';
import { traced } from '../../../observability/span.ts';
import { StoreUnavailable } from '../../port.ts';
import type { Row, Value } from '../../sql/accounts.ts';
import { replayed, type Statement } from '../statements.ts';
import { Connection, urlUnderName } from './connection.ts';
import { isOfStatement, translated, unreachable } from './errors.ts';
import { createKeptConnections } from './kept-connections.ts';
import type { Role } from './server.ts';

/** Where connections come from. */
export interface Source {
  readonly role: Role;
  /** Where the server is, or was. */
  readonly url: string;
  /** Resolves when it is there, at once as a rule; a request waits only so long for it. */
  found(): Promise<void>;
  /** Refuses a new connection that does not lead to the server. */
  examine(client: Connection): Promise<void>;
  /** Calls back when the server was lost and is found again, and whether another one has its place now. */
  onReturn?(listener: (isOther: boolean) => void): void;
}

export interface PoolSettings {
  readonly source: Source;
  readonly connections: number;
  /** False behind a pooler that gives each transaction another connection. */
  readonly keepsSession: boolean;
  /** It answers requests, with bounds on time; an operator's command may take its time. */
  readonly isHot: boolean;
  /** What the server's administrators see of a connection, where it is not one like all others. */
  readonly name?: string;
}

export type Rows = readonly Row[];

export interface Pool {
  query(statement: Statement, values: readonly Value[]): Promise<Rows>;
  /** How far a standby had come, and then the statement: both in one round trip of this many ms at most. */
  queryAfterProgress(
    statement: Statement,
    values: readonly Value[],
    timeoutMs: number,
  ): Promise<[Rows, Rows]>;
  /** Work on one connection, all of it or nothing. */
  transaction<Result>(work: (client: pg.ClientBase) => Promise<Result>): Promise<Result>;
  /** How many connections there are, how many of them are at work, and how many callers wait for one. */
  use(): { readonly open: number; readonly busy: number; readonly waiting: number };
  /** How long callers waited for one when all were at work, and how many of them did so in vain. */
  readonly waits: { readonly seconds: Histogram; inVain(): number };
  close(): Promise<void>;
}

/** The driver reads times in this style, whatever the database's own is. */
const readableTimes = 'datestyle=ISO';

/**
 * Every plan of ours is a short scan of an index. An empty table, or one that has not been counted since a
 * large import, would make the planner read or sort all of it, and keep that plan.
 */
export const planSettings = [
  ...['enable_seqscan=off', 'enable_bitmapscan=off', 'enable_sort=off', 'enable_incremental_sort=off'],
  ...['plan_cache_mode=force_generic_plan', 'jit=off', readableTimes],
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

export function createPool({ source, connections, keepsSession, isHot, name }: PoolSettings): Pool {
  const all = new Set<Connection>();
  const busy = new Set<pg.ClientBase>();
  const retired = new WeakSet<pg.ClientBase>();
  const waitsSeconds = createHistogram([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25]);
  let waitsInVain = 0;

  /** Leads to where the server is when the connection is made, not when the pool was. */
  class Pooled extends Connection {
    constructor(config: pg.ClientConfig) {
      super({
        ...config,
        connectionString: name === undefined ? source.url : urlUnderName(source.url, name),
      });
      all.add(this);
      // An error comes before the end: nobody is given it in between.
      this.once('error', () => kept.drop(this));
      this.once('end', () => {
        all.delete(this);
        kept.drop(this);
      });
    }
  }

  const pool = new pg.Pool({
    Client: Pooled as unknown as typeof pg.Client,
    max: connections,
    connectionTimeoutMillis: postgresBounds.postgresConnectMs,
    // Standbys are asked two things at once.
    pipeline: source.role === 'standby',
    idleTimeoutMillis: postgresBounds.postgresIdleMs,
    maxLifetimeSeconds: postgresBounds.postgresConnectionSeconds,
    // A pooler passes no settings of a session on; docs/operators/scale.md tells how the role gets them.
    ...(keepsSession && { options: isHot ? planSettings : `-c ${readableTimes}` }),
    ...(isHot && keepsSession && { statement_timeout: postgresBounds.postgresStatementMs }),
    onConnect: (client: pg.ClientBase) => source.examine(client as Connection),
  } as pg.PoolConfig);
  // A connection that breaks while it is idle is dropped by the pool, which tells of it.
  pool.on('error', () => {});

  const kept = createKeptConnections(
    connections,
    () => pool.connect(),
    (client, isSpent) => client.release(isSpent),
  );
  const renewal = setInterval(kept.renewOldest, postgresBounds.postgresKeptMs).unref();

  function abandonAll(): void {
    for (const connection of all) connection.abandon();
  }

  /** Those at work may still get their answer; none is used again, for the way may be dead without a sign. */
  function retireAll(): void {
    for (const connection of all) {
      if (busy.has(connection)) retired.add(connection);
      else connection.abandon();
    }
  }
  source.onReturn?.((isOther) => (isOther ? abandonAll() : retireAll()));

  async function acquire(): Promise<pg.PoolClient> {
    await source.found();
    try {
      return await (kept.take() ?? traced('wait for a connection', 'internal', {}, waitForOne));
    } catch (error) {
      throw unreachable(error);
    }
  }

  async function waitForOne(): Promise<pg.PoolClient> {
    const sinceMs = performance.now();
    const { free, giveUp } = kept.wait();
    try {
      return await within(postgresBounds.postgresPoolWaitMs, free, () => {
        waitsInVain += 1;
        giveUp();
        return new StoreUnavailable('All connections to the database are in use.');
      });
    } finally {
      waitsSeconds.observe((performance.now() - sinceMs) / 1_000);
    }
  }

  async function onConnection<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const client = await acquire();
    busy.add(client);
    try {
      const result = await work(client);
      release(client, false);
      return result;
    } catch (error) {
      release(client, !isOfStatement(error));
      throw translated(error);
    }
  }

  function release(client: pg.PoolClient, isBroken: boolean): void {
    busy.delete(client);
    kept.give(client, isBroken || retired.has(client));
  }

  async function run(
    client: pg.PoolClient,
    { name, text }: Statement,
    values: readonly Value[],
    timeoutMs: number = postgresBounds.postgresStatementMs,
  ): Promise<Rows> {
    const config = {
      name: keepsSession ? name : undefined,
      text,
      values: values as Value[],
      query_timeout: isHot ? timeoutMs : postgresBounds.commandStatementMs,
    };
    return (await client.query(config)).rows;
  }

  return {
    query: (statement, values) => onConnection((client) => run(client, statement, values)),

    queryAfterProgress: (statement, values, timeoutMs) =>
      onConnection((client) =>
        Promise.all([run(client, replayed, [], timeoutMs), run(client, statement, values, timeoutMs)]),
      ),

    transaction: (work) =>
      onConnection(async (client) => {
        try {
          await client.query('begin');
          const result = await work(client);
          await client.query('commit');
          return result;
        } catch (error) {
          // The server rolls back what a lost connection leaves behind.
          await client.query('rollback').catch(() => retired.add(client));
          throw error;
        }
      }),

    use: () => ({
      open: pool.totalCount,
      busy: pool.totalCount - pool.idleCount - kept.free(),
      waiting: kept.waiting(),
    }),

    waits: { seconds: waitsSeconds, inVain: () => waitsInVain },

    async close() {
      if (pool.ending) return;
      clearInterval(renewal);
      kept.close();
      // Whoever is still at work waits in vain by then, and a frozen server does not even say goodbye.
      setTimeout(abandonAll, postgresBounds.postgresCloseMs).unref();
      await pool.end();
    },
  };
}
