import { setTimeout as wait } from 'node:timers/promises';
import type { Environment } from '@partner-network/contract/environments';
import pg from 'pg';
import { bounds } from '../../bounds.ts';
import type { Row, Value } from '../accounts.ts';
import { StoreUnavailable } from '../port.ts';
import { refuseOtherEnvironment } from '../schema.ts';
import { isOfStatement, translated } from './errors.ts';
import { progress, type Statement } from './statements.ts';
import { driverTypes } from './types.ts';

/** What a connection must lead to: where writes go, or a copy of that. */
export type Role = 'primary' | 'standby';

export interface PoolSettings {
  /** One server under several addresses: the first that has the role is used, as long as it does. */
  readonly urls: readonly string[];
  readonly role: Role;
  readonly environment: Environment;
  readonly connections: number;
  /** False behind a pooler that gives each transaction another connection. */
  readonly keepsSession: boolean;
  /** It answers requests, with bounds on time; an operator's command may take its time. */
  readonly isHot: boolean;
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
  close(): Promise<void>;
}

/**
 * Every plan of ours is a short scan of an index. An empty table, or one that has not been counted since a
 * large import, would make the planner read or sort all of it, and keep that plan.
 */
export const planSettings = [
  ...['enable_seqscan=off', 'enable_bitmapscan=off', 'enable_sort=off', 'enable_incremental_sort=off'],
  ...['plan_cache_mode=force_generic_plan', 'jit=off'],
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

export function createPool(settings: PoolSettings): Pool {
  const { urls, connections, keepsSession, isHot } = settings;
  let address = 0;

  /** Takes the address that is in use when a connection is made, not when the pool was. */
  class Connection extends pg.Client {
    constructor(config: pg.ClientConfig) {
      super({ ...config, connectionString: urls[address]! });
      // Whoever uses it learns of its end from a statement; without a listener it would end the process.
      this.on('error', () => {});
    }
  }

  const pool = new pg.Pool({
    Client: Connection as unknown as typeof pg.Client,
    max: connections,
    connectionTimeoutMillis: bounds.postgresConnectMs,
    // Standbys are asked two things at once.
    pipeline: settings.role === 'standby',
    idleTimeoutMillis: bounds.postgresIdleMs,
    maxLifetimeSeconds: bounds.postgresConnectionSeconds,
    keepAlive: true,
    application_name: 'partner-network',
    types: driverTypes,
    // A pooler passes no settings of a session on; docs/postgres.md shows how to give them to the role.
    ...(isHot && keepsSession && { statement_timeout: bounds.postgresStatementMs, options: planSettings }),
    onConnect: (client: pg.ClientBase) => verify(client, settings),
  } as pg.PoolConfig);
  // A connection that breaks while it is idle is dropped by the pool, which tells of it.
  pool.on('error', () => {});

  async function acquire(): Promise<pg.PoolClient> {
    const tried = address;
    const isFull = pool.idleCount === 0 && pool.totalCount >= connections;
    const acquired = pool.connect();
    try {
      return await (isFull ? withinPoolWait(acquired) : acquired);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      // Whoever fails first moves all on to the next address.
      if (tried === address) address = (address + 1) % urls.length;
      throw translated(error);
    }
  }

  async function onConnection<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const client = await acquire();
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(!isOfStatement(error));
      throw translated(error);
    }
  }

  async function run(
    client: pg.PoolClient,
    { name, text }: Statement,
    values: readonly Value[],
    timeoutMs: number = bounds.postgresStatementMs,
  ): Promise<Rows> {
    const named = keepsSession && name !== undefined && { name };
    const timed = isHot && { query_timeout: timeoutMs };
    return (await client.query({ ...named, ...timed, text, values: [...values] })).rows;
  }

  return {
    query: (statement, values) => onConnection((client) => run(client, statement, values)),

    queryAfterProgress: (statement, values, timeoutMs) =>
      onConnection((client) =>
        Promise.all([run(client, progress, [], timeoutMs), run(client, statement, values, timeoutMs)]),
      ),

    async transaction(work) {
      const client = await acquire();
      try {
        await client.query('begin');
        const result = await work(client);
        await client.query('commit');
        client.release();
        return result;
      } catch (error) {
        // The server rolls back what a lost connection leaves behind.
        client.release(true);
        throw translated(error);
      }
    },

    use: () => ({
      open: pool.totalCount,
      busy: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
    }),

    // A frozen server does not even say goodbye.
    close: async () => {
      if (!pool.ending)
        await Promise.race([pool.end(), wait(bounds.postgresCloseMs, undefined, { ref: false })]);
    },
  };
}

async function withinPoolWait(acquired: Promise<pg.PoolClient>): Promise<pg.PoolClient> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new StoreUnavailable('All connections to the database are in use.'));
      acquired.then(
        (client) => client.release(),
        () => {},
      );
    }, bounds.postgresPoolWaitMs);
  });
  try {
    return await Promise.race([acquired, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** An address may come to mean another server: each connection is looked at before it is used. */
async function verify(client: pg.ClientBase, { role, environment }: PoolSettings): Promise<void> {
  const { rows } = await client.query(`
    select pg_is_in_recovery() as is_standby,
      (select value from settings where name = 'environment') as environment`);
  const { is_standby, environment: stamped } = rows[0];
  if (is_standby !== (role === 'standby')) {
    throw new StoreUnavailable(
      role === 'primary' ? 'The database is a standby, not the primary.' : 'The replica is not a standby.',
    );
  }
  refuseOtherEnvironment(stamped, environment);
}
