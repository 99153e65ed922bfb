import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { connect, Socket } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { postgresBounds } from '@partner-network/common/bounds/store';
import { within } from '@partner-network/common/timeout';
import pg from 'pg';
import type { BoundStatement, Sql } from '../../sql/statement.ts';
import { late } from './errors.ts';
import type { Prepared } from './prepared.ts';

const { TIMESTAMPTZ } = pg.types.builtins;
const parseTime = pg.types.getTypeParser(TIMESTAMPTZ);
/** Reads times as the API writes them, and all other types as `pg` does. */
const types = new pg.TypeOverrides();
types.setTypeParser(TIMESTAMPTZ, (text) => parseTime(text).toISOString());

/**
 * Closes the socket when one of its listeners throws. `pg` throws from its listener when a server sends bytes
 * that are not Postgres protocol or asks for Kerberos, and would end the process.
 */
function guard(socket: Duplex): void {
  const emit = socket.emit.bind(socket) as (...event: unknown[]) => boolean;
  socket.emit = (...event: unknown[]) => {
    try {
      return emit(...event);
    } catch (error) {
      socket.destroy(error as Error);
      return true;
    }
  };
}

/**
 * Begins a transaction in which a statement sees everything that was committed before it, such as a deletion
 * that the transaction waited for. The default of the role or the database may be another one.
 */
export const begin = 'begin isolation level read committed';

/** Runs a statement and rolls it back. Fails after half a second if another transaction holds a lock. */
export async function tryStatement(
  connection: pg.Client,
  [text, ...values]: BoundStatement,
  statementMs: number,
): Promise<void> {
  const lockLimit = `set local lock_timeout = ${postgresBounds.probeMs}`;
  await connection.query(`${begin}; ${lockLimit}; set local statement_timeout = ${statementMs}`);
  await connection.query(text, values).finally(() => connection.query('rollback'));
}

/** A `pg` client with our settings, which can be closed without an answer of the server. */
export class Connection extends pg.Client {
  readonly prepared: Prepared = new Map();
  readonly #socket: Socket;

  constructor(config: pg.ClientConfig & { readonly connectionString: string }) {
    const socket = new Socket();
    guard(socket);
    super({
      connectionTimeoutMillis: postgresBounds.connectMs,
      keepAlive: true,
      application_name: 'partner-network',
      types,
      ...config,
      connectionString: withCertificates(config.connectionString),
      stream: () => socket,
    });
    this.#socket = socket;
    // `pg` asks for it when the server does, if the URL and PGPASSWORD have none.
    (this as { password?: unknown }).password ??= () => passwordOf(this);
    // With TLS, `pg` listens to a socket of its own, which wraps ours.
    this.connection.once('sslconnect', () => guard(this.connection.stream));
    // The statement that is running fails too. Without a listener the event would end the process.
    this.on('error', () => {});
  }

  /** Closes the socket. A running statement fails at once, even if the server is frozen. */
  abandon(): void {
    this.#socket.destroy();
  }

  /**
   * Asks the server to cancel the running statement, and waits until the server has taken the request.
   * Without it, a statement continues after its connection was closed, and keeps its locks. Never rejects.
   */
  async cancel(): Promise<void> {
    const { processID, secretKey } = this as unknown as { processID: number; secretKey: number };
    const request = Buffer.alloc(16);
    for (const [index, value] of [16, 80_877_102, processID, secretKey].entries()) {
      request.writeInt32BE(value, index * 4);
    }
    const isPath = this.host.startsWith('/');
    const socket = isPath
      ? connect(`${this.host}/.s.PGSQL.${this.port}`)
      : connect({ host: this.host, port: this.port });
    socket.end(request);
    await within(postgresBounds.closeMs, once(socket, 'close'), late).catch(() => {});
    socket.destroy();
  }

  /** Ends the session. Closes the socket if that takes longer than `closeMs`. */
  async leave(): Promise<void> {
    await within(postgresBounds.closeMs, this.end(), late).catch(() => this.abandon());
  }
}

/** Adds the files of PGSSLROOTCERT, PGSSLCERT and PGSSLKEY to an address: `pg` does not read them. */
function withCertificates(url: string): string {
  const completed = new URL(url);
  const { searchParams } = completed;
  const mode = searchParams.get('sslmode') || process.env.PGSSLMODE || 'disable';
  const { PGSSLROOTCERT: sslrootcert, PGSSLCERT: sslcert, PGSSLKEY: sslkey } = process.env;
  for (const [name, path] of Object.entries({ sslrootcert, sslcert, sslkey })) {
    if (mode === 'disable' || !path || searchParams.has(name)) continue;
    searchParams.set(name, path);
    // Beside a certificate in the address, `pg` does not read PGSSLMODE.
    searchParams.set('sslmode', mode);
  }
  return completed.href;
}

/** The address with an `application_name`, which the server shows for its connections. */
export function urlUnderName(url: string, name: string): string {
  const named = new URL(url);
  named.searchParams.set('application_name', name);
  return named.href;
}

/** Host and port of a server, without user and password. */
export function addressOf(url: string): string {
  return new URL(url).host || 'localhost';
}

/** `pg` parses times in this style only. */
export const timeStyle = '-c datestyle=ISO';

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

const field = String.raw`((?:\\.|[^:\\])*)`;
/** `HOST:PORT:DATABASE:USER:PASSWORD`. A colon or a backslash in a field has a backslash before it. */
const passwordLine = new RegExp(`^${[field, field, field, field, '(.+)'].join(':')}$`);
/** Permissions of the group and of others. */
const sharedMode = 0o077;

/**
 * The password of the first line for this login, in the file of PGPASSFILE or in ~/.pgpass, as for psql. `pg`
 * reads it too, but prints that its next version will not.
 */
async function passwordOf({ host, port, database, user }: pg.Client): Promise<string | undefined> {
  const path = process.env.PGPASSFILE || join(homedir(), '.pgpass');
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  if ((found.mode & sharedMode) !== 0)
    throw new Error(`others may read the password file ${path}: set its mode to 0600`);
  const login = [host, String(port), database, user];
  for (const text of (await readFile(path, 'utf8')).split(/\r?\n/)) {
    const fields = passwordLine
      .exec(text)
      ?.slice(1)
      .map((escaped) => escaped.replace(/\\(.)/g, '$1'));
    if (fields !== undefined && login.every((value, index) => ['*', value].includes(fields[index]!)))
      return fields[4];
  }
  return undefined;
}

/** The `application_name` of every instance that serves a Postgres database begins with this. */
export const instancePrefix = 'partner-network serve ';

/** Counts the instances that serve this database, without the one named $2. $1 is the prefix. */
const countInstances = `
  select count(distinct application_name)::integer as count from pg_stat_activity
  where datname = current_database() and starts_with(application_name, $1) and application_name <> $2`;

/** Every role may see the `application_name` of a connection. */
export async function instancesBeside(rows: Sql['rows'], instance = ''): Promise<number> {
  const [counted] = await rows(countInstances, instancePrefix, `${instancePrefix}${instance}`);
  return Number(counted!.count);
}
