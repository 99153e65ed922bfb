/**
 * Knows where the primary is. It identifies the server every `postgresLookMs` over a connection of its own.
 * Without an answer it searches all addresses until one leads to a primary. So it notices a failover before
 * a request fails, and while no server answers, requests do not open connections.
 *
 *     found -> found      the server answered: look again after `postgresLookMs`
 *     found -> silent     no answer within `postgresSilenceMs`: search; requests go on for `postgresSlowMs`
 *     found -> lost       the connection broke, or the server is no longer a primary: search
 *     silent -> found     the late answer came, or the search found a primary
 *     lost -> found       the search found a primary
 *     any -> closed       `close()` was called
 */

import { postgresBounds } from '@partner-network/common/bounds/postgres';
import { createWaitQueue } from '@partner-network/common/wait-queue';
import type { Environment } from '@partner-network/contract/environments';
import { StoreUnavailable } from '../../port.ts';
import type { Reached } from './connect.ts';
import { addressOf, Connection } from './connection.ts';
import { unreachable } from './errors.ts';
import { examine, identify, isSame, refuseOtherRole, type Server, succeeds } from './server.ts';

export type PrimaryWatch = ReturnType<typeof watchPrimary>;

/** `urls` are all addresses of one database; `first` is the primary that was found at the start. */
export function watchPrimary(urls: readonly string[], environment: Environment, first: Reached) {
  const listeners: ((isOther: boolean) => void)[] = [];
  /** Connections of the search that are not examined yet. */
  const attempts = new Set<Connection>();
  /** Why the last attempt failed, by address. */
  const failures = new Map<string, string>();
  const waiting = createWaitQueue<void>(
    postgresBounds.postgresPoolWaitMs,
    () => new StoreUnavailable(`No primary answers. ${[...failures.values()].join(' ')}`),
  );
  let state: 'found' | 'silent' | 'lost' | 'closed' = 'found';
  let primary = first;
  let silentSinceMs = 0;
  let searchTimer: NodeJS.Timeout | undefined;
  let lookTimer: NodeJS.Timeout | undefined;

  function follow(found: Reached): void {
    const before = primary;
    primary = found;
    found.connection.once('end', () => lose('lost', found));
    if (before === found) return;
    before.connection.abandon();
    for (const listener of listeners) listener(!isSame(before.server, found.server));
  }

  function enterFound(): void {
    state = 'found';
    stopSearch();
    while (waiting.give());
    lookTimer = setTimeout(look, postgresBounds.postgresLookMs).unref();
  }

  function lose(how: 'silent' | 'lost', lost: Reached): void {
    if (lost !== primary || state !== 'found') return;
    state = how;
    silentSinceMs = performance.now();
    failures.clear();
    clearTimeout(lookTimer);
    searchTimer = setInterval(search, postgresBounds.postgresLookMs).unref();
    search();
  }

  /** Identifies the primary once. A late answer still counts if no other server was found meanwhile. */
  async function look(): Promise<void> {
    const asked = primary;
    const timer = setTimeout(lose, postgresBounds.postgresSilenceMs, 'silent', asked).unref();
    try {
      refuseOtherRole(await identify(asked.connection), 'primary');
      if (asked === primary && (state === 'found' || state === 'silent')) enterFound();
    } catch {
      lose('lost', asked);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Attempts overlap, so that an attempt without an answer does not delay the next. */
  function search(): void {
    for (const url of urls) void attempt(url);
  }

  function stopSearch(): void {
    clearInterval(searchTimer);
    for (const connection of attempts) connection.abandon();
    attempts.clear();
  }

  async function attempt(url: string): Promise<void> {
    let connection: Connection | undefined;
    try {
      // Throws if the address names a certificate that cannot be read.
      connection = new Connection({ connectionString: url });
      attempts.add(connection);
      await connection.connect();
      const server = await examinePrimary(connection);
      // It is no longer in the set if another attempt was faster.
      if (!attempts.delete(connection)) return;
      follow({ url, connection, server });
      enterFound();
    } catch (error) {
      if (connection !== undefined) {
        attempts.delete(connection);
        connection.abandon();
      }
      failures.set(url, `${addressOf(url)}: ${unreachable(error).message}`);
    }
  }

  /** Also rejects a primary that was replaced and does not know it: its data is out of date. */
  async function examinePrimary(connection: Connection, timeoutMs?: number): Promise<Server> {
    const server = await examine(connection, 'primary', environment, timeoutMs);
    if (succeeds(primary.server, server)) {
      throw new StoreUnavailable('The database is a former primary that was replaced.');
    }
    return server;
  }

  follow(first);
  enterFound();

  return {
    get url() {
      return primary.url;
    },
    get server() {
      return primary.server;
    },

    /** Resolves if the primary answered the last look, or answers within `postgresPoolWaitMs`. */
    ping: () => (state === 'found' ? Promise.resolve() : waiting.wait()),

    whenAvailable(): Promise<void> {
      // A slow server may still answer statements. A frozen one must not get a storm of connections.
      const isSlow = state === 'silent' && performance.now() - silentSinceMs < postgresBounds.postgresSlowMs;
      return state === 'found' || isSlow ? Promise.resolve() : waiting.wait();
    },

    async examine(connection: Connection, timeoutMs?: number): Promise<void> {
      const server = await examinePrimary(connection, timeoutMs);
      // The address leads to a newer primary than the watched server: search again.
      if (succeeds(server, primary.server)) primary.connection.abandon();
    },

    onReturn(listener: (isOther: boolean) => void): void {
      listeners.push(listener);
    },

    async close(): Promise<void> {
      state = 'closed';
      clearTimeout(lookTimer);
      stopSearch();
      await primary.connection.leave();
    },
  };
}
