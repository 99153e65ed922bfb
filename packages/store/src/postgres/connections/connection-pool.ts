import { postgresBounds } from '@partner-network/common/bounds/store';
import { createHistogram, type Metric, metric, metricOf } from '@partner-network/common/observability/metric';
import { traced } from '@partner-network/common/observability/span';
import { createWaitQueue, type WaitQueue } from '@partner-network/common/timeout';
import type { ClientConfig } from 'pg';
import type { StoreOptions } from '../../address.ts';
import { StoreUnavailable } from '../../port.ts';
import { Connection, planSettings, timeStyle, urlUnderName } from './connection.ts';
import { breaksConnection, translated, unreachable } from './errors.ts';
import type { Source } from './server.ts';

export interface PoolSettings extends Pick<StoreOptions, 'connections' | 'keepsSession'> {
  readonly source: Source;
  /** True if the pool serves requests, whose statements have a short timeout. Commands may take longer. */
  readonly answersRequests: boolean;
  /** The `application_name` of its connections, if it differs from the name in the address. */
  readonly name?: string;
  /** The age at which a connection is replaced. */
  readonly lifetimeMs?: number;
  /** How long a caller waits for a connection. */
  readonly waitMs?: number;
  /** The timeout of a statement. */
  readonly statementMs?: number;
  /** How long a statement waits for a lock. Without it, as long as the statement may take. */
  readonly lockMs?: number | undefined;
  /** Whether callers share connections: see `ConnectionPool`, and `ReadPool` in `pool.ts`. */
  readonly shares?: boolean;
}

class PooledConnection extends Connection {
  readonly openedMs = performance.now();
  isOpen = false;
  /** Callers whose work is not done. */
  callers = 0;
  /** When a caller took it while it was idle, or the work of a caller was done. */
  progressMs = 0;
  /** Set when it must be closed instead of becoming idle. */
  isRetired = false;
}

/**
 * A pool of connections that stay open between statements. `pg.Pool` did the same, but checking a connection
 * out and in took 17 to 20 % of a statement's CPU. A connection is opening, busy or idle:
 *
 *     opening -> busy     it connected to the right server, for its caller or the longest waiting caller
 *     opening -> closed   it did not; its caller waits for an open connection if one is left
 *     busy -> busy        its statement is done, and the longest waiting caller gets it
 *     busy -> idle        its statement is done, and no caller waits
 *     idle -> busy        a caller takes the connection that became idle last
 *     any -> closed       it broke, is older than its lifetime, was idle for too long, or the server was lost
 *
 * If callers share connections, those of one turn of the event loop take the same connection, up to
 * `sharedCallers`, and `prepared.ts` sends their statements in one write. With 16 clients, a page takes 25 %
 * less CPU of this process and 20 % less of Postgres. After a slow answer they take connections of their own
 * for a while. A caller that finds all connections busy joins the one with the fewest callers.
 */
export class ConnectionPool {
  protected readonly settings: PoolSettings;
  protected readonly statementMs: number;
  /** Callers that a connection can have at the same time. */
  readonly #mostCallers: number;
  readonly #config: ClientConfig;
  /** All connections that are opening, busy or idle, oldest first. */
  readonly #all = new Set<PooledConnection>();
  readonly #idle: PooledConnection[] = [];
  /** The last connection that got its first caller in this turn of the event loop. Others may join it. */
  #ofTurn: PooledConnection | undefined;
  #apartUntilMs = 0;
  readonly #waiting: WaitQueue<PooledConnection>;
  readonly #waitSeconds = createHistogram([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25]);
  #waitTimeouts = 0;
  readonly #upkeep = setInterval(() => this.#retireOne(), postgresBounds.upkeepMs).unref();
  #closing: PromiseWithResolvers<void> | undefined;

  constructor(settings: PoolSettings) {
    const { source, keepsSession, answersRequests, shares = false } = settings;
    const { poolWaitMs, statementMs, commandStatementMs, commandConnectMs } = postgresBounds;
    this.settings = settings;
    this.statementMs = settings.statementMs ?? (answersRequests ? statementMs : commandStatementMs);
    this.#mostCallers = shares ? postgresBounds.sharedCallers : 1;
    this.#config = {
      pipeline: shares,
      // A pooler forwards no session settings: docs/how-to/operators/postgres.md sets them.
      ...(keepsSession && { options: answersRequests ? planSettings : timeStyle }),
      ...(!answersRequests && { connectionTimeoutMillis: commandConnectMs }),
      ...(answersRequests && keepsSession && { statement_timeout: this.statementMs }),
      ...(settings.lockMs !== undefined && keepsSession && { lock_timeout: settings.lockMs }),
    };
    this.#waiting = createWaitQueue(settings.waitMs ?? poolWaitMs, () => {
      this.#waitTimeouts += 1;
      return new StoreUnavailable('All connections to the database are in use.');
    });
    // Also if the same server returns: a connection can be dead without any error.
    source.onReturn?.((isOther) => this.#retireAll(isOther));
  }

  async #open(): Promise<PooledConnection> {
    const { source, name, answersRequests } = this.settings;
    let connection: PooledConnection | undefined;
    try {
      if (this.#closing !== undefined) throw new StoreUnavailable('The database is closed.');
      const connectionString = name === undefined ? source.url : urlUnderName(source.url, name);
      const opened = new PooledConnection({ ...this.#config, connectionString });
      connection = opened;
      this.#all.add(opened);
      // The error comes first: no caller may take the connection between the two events.
      opened.once('error', () => this.retire(opened)).once('end', () => this.retire(opened));
      await opened.connect();
      // A command waits for a busy server. A request must be answered in time.
      await source.examine(opened, answersRequests ? undefined : this.statementMs);
      opened.isOpen = true;
      return opened;
    } catch (error) {
      if (connection !== undefined) this.#remove(connection);
      throw unreachable(error);
    }
  }

  #isFull(): boolean {
    return this.#all.size >= this.settings.connections;
  }

  /** Whether a connection works that callers can wait for, even if the server takes no new ones. */
  #hasOpen(): boolean {
    return this.#all.values().some(({ isOpen, isRetired }) => isOpen && !isRetired);
  }

  /** Opens a connection for a waiting caller if the pool is not full. */
  #openForWaiting(): void {
    if (this.#waiting.length === 0 || this.#isFull()) return;
    this.#open().then(
      (connection) => this.#passOn(connection),
      (error) => {
        if (this.#hasOpen()) return;
        this.#waiting.fail(error);
        this.#openForWaiting();
      },
    );
  }

  #remove(connection: PooledConnection): void {
    this.#all.delete(connection);
    void connection.leave();
    if (this.#all.size === 0) this.#closing?.resolve();
    // Not now: if it did not open, its own caller has to fail first, or waits for another with the rest.
    if (connection.isOpen || !this.#hasOpen()) setImmediate(() => this.#openForWaiting());
  }

  /** Closes the connection: now if it is idle, or else when its work is done. */
  protected retire(connection: PooledConnection): void {
    connection.isRetired = true;
    const place = this.#idle.indexOf(connection);
    if (place === -1) return;
    this.#idle.splice(place, 1);
    this.#remove(connection);
  }

  /** Retires one connection that is too old or was idle for too long. One at a time, to spread the load. */
  #retireOne(): void {
    const nowMs = performance.now();
    const { lifetimeMs = postgresBounds.lifetimeMs } = this.settings;
    const isOld = ({ openedMs, isRetired }: PooledConnection) => !isRetired && nowMs - openedMs > lifetimeMs;
    const due =
      this.#all.values().find(isOld) ??
      this.#idle.find(({ progressMs }) => nowMs - progressMs > postgresBounds.idleMs);
    if (due !== undefined) this.retire(due);
  }

  /** Busy connections may finish, unless they lead to a server that is gone. */
  #retireAll(isOther: boolean): void {
    for (const connection of this.#all) {
      this.retire(connection);
      if (isOther) connection.abandon();
    }
  }

  async #acquire(): Promise<PooledConnection> {
    await this.settings.source.whenAvailable();
    const connection = this.#takenInTurn() ?? this.#idle.pop();
    if (connection !== undefined) return this.#take(connection);
    if (!this.#isFull()) {
      const opened = await this.#open().catch((error) => {
        if (!this.#hasOpen()) throw error;
        return this.#idle.pop();
      });
      if (opened !== undefined) return this.#take(opened);
    }
    const shared = this.#leastBusy();
    if (shared !== undefined) return this.#take(shared);
    const startMs = performance.now();
    try {
      return await traced('wait for a connection', 'internal', {}, this.#waiting.wait);
    } finally {
      this.#waitSeconds.observe((performance.now() - startMs) / 1_000);
    }
  }

  #take(connection: PooledConnection): PooledConnection {
    if (connection.callers === 0) {
      connection.progressMs = performance.now();
      if (this.#mostCallers > 1) {
        this.#ofTurn = connection;
        setImmediate(() => {
          this.#ofTurn = undefined;
        });
      }
    }
    connection.callers += 1;
    return connection;
  }

  #canJoin({ isOpen, isRetired, callers }: PooledConnection): boolean {
    return isOpen && !isRetired && callers < this.#mostCallers;
  }

  /** Not a connection whose callers are done: it is idle again. */
  #takenInTurn(): PooledConnection | undefined {
    const taken = this.#ofTurn;
    if (taken === undefined || taken.callers === 0 || !this.#canJoin(taken)) return undefined;
    for (const connection of this.#all) this.#noteSlow(connection);
    return performance.now() >= this.#apartUntilMs ? taken : undefined;
  }

  #noteSlow({ callers, progressMs }: PooledConnection): void {
    const nowMs = performance.now();
    const isSlow = callers > 0 && nowMs - progressMs > postgresBounds.sharedSilenceMs;
    if (isSlow) this.#apartUntilMs = nowMs + postgresBounds.sharedApartMs;
  }

  /** Nobody joins a connection whose answer is late: behind a slow statement, a caller would be late too. */
  #leastBusy(): PooledConnection | undefined {
    if (this.#mostCallers === 1 || this.#waiting.length > 0) return undefined;
    const sinceMs = performance.now() - postgresBounds.sharedSilenceMs;
    let found: PooledConnection | undefined;
    for (const connection of this.#all) {
      const isQuick = this.#canJoin(connection) && connection.progressMs > sinceMs;
      if (isQuick && connection.callers < (found?.callers ?? this.#mostCallers)) found = connection;
    }
    return found;
  }

  #release(connection: PooledConnection): void {
    this.#noteSlow(connection);
    connection.callers -= 1;
    connection.progressMs = performance.now();
    this.#passOn(connection);
  }

  /** Gives the connection to callers that wait. It becomes idle if it has no caller then. */
  #passOn(connection: PooledConnection): void {
    if (connection.isRetired) {
      if (connection.callers === 0) this.#remove(connection);
      return;
    }
    while (connection.callers < this.#mostCallers && this.#waiting.give(connection)) this.#take(connection);
    if (connection.callers === 0) this.#idle.push(connection);
  }

  readonly onConnection = async <Result>(
    work: (connection: PooledConnection) => Promise<Result>,
  ): Promise<Result> => {
    const connection = await this.#acquire();
    try {
      return await work(connection);
    } catch (error) {
      if (breaksConnection(error)) {
        connection.isRetired = true;
        // Callers that share it must not wait for answers that may never come.
        connection.abandon();
      }
      throw translated(error);
    } finally {
      this.#release(connection);
    }
  };

  /** The numbers of connections, busy connections, and callers that wait for a connection. */
  readonly use = () => {
    const open = this.#all.size;
    return { open, busy: open - this.#idle.length, waiting: this.#waiting.length };
  };

  readonly metrics: readonly Metric[] = [
    metric('partner_network_database_connections', this.use),
    metricOf('partner_network_database_wait_seconds', () => this.#waitSeconds.read()),
    metric('partner_network_database_wait_timeouts_total', () => this.#waitTimeouts),
  ];

  readonly close = async (): Promise<void> => {
    if (this.#closing !== undefined) return;
    this.#closing = Promise.withResolvers<void>();
    clearInterval(this.#upkeep);
    this.#retireAll(false);
    if (this.#all.size === 0) return;
    // Statements that still run have outlived their requests, or the server is frozen.
    setTimeout(() => this.#retireAll(true), postgresBounds.closeMs).unref();
    await this.#closing.promise;
  };
}
