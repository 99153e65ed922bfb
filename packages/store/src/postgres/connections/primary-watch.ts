import { postgresBounds } from '@partner-network/common/bounds/store';
import { createWaitQueue } from '@partner-network/common/timeout';
import type { Environment } from '@partner-network/contract/environments';
import { StoreUnavailable } from '../../port.ts';
import { addressOf, Connection } from './connection.ts';
import { unreachable } from './errors.ts';
import { examine, identify, isSame, type Reached, refuseOtherRole, type Server, succeeds } from './server.ts';

/**
 * Knows where the primary is. It identifies the server every `lookMs` over a connection of its own.
 * Without an answer it searches all addresses until one leads to a primary. So it notices a failover before
 * a request fails, and while no server answers, requests do not open connections.
 *
 *     found -> found      the server answered: look again after `lookMs`
 *     found -> silent     no answer within `silenceMs`: search; requests go on for `slowMs`
 *     found -> lost       the connection broke, or the server is no longer a primary: search
 *     silent -> found     the late answer came, or the search found a primary
 *     lost -> found       the search found a primary
 *     any -> closed       `close()` was called
 *
 * `urls` are all addresses of one database; `first` is the primary that was found at the start.
 */
export class PrimaryWatch {
  readonly #urls: readonly string[];
  readonly #environment: Environment;
  readonly #listeners: ((isOther: boolean) => void)[] = [];
  /** Connections of the search that are not examined yet. */
  readonly #attempts = new Set<Connection>();
  /** Why the last attempt failed, by address. */
  readonly #failures = new Map<string, string>();
  readonly #waiting = createWaitQueue<void>(
    postgresBounds.poolWaitMs,
    () => new StoreUnavailable(`No primary answers. ${[...this.#failures.values()].join(' ')}`),
  );
  #state: 'found' | 'silent' | 'lost' | 'closed' = 'found';
  #primary: Reached;
  #silentSinceMs = 0;
  #searchTimer: NodeJS.Timeout | undefined;
  #lookTimer: NodeJS.Timeout | undefined;

  constructor(urls: readonly string[], environment: Environment, first: Reached) {
    this.#urls = urls;
    this.#environment = environment;
    this.#primary = first;
    this.#follow(first);
  }

  get url() {
    return this.#primary.url;
  }

  get server() {
    return this.#primary.server;
  }

  #follow(found: Reached): void {
    const before = this.#primary;
    this.#primary = found;
    found.connection.once('end', () => this.#lose('lost', found));
    if (before !== found) {
      before.connection.abandon();
      for (const listener of this.#listeners) listener(!isSame(before.server, found.server));
    }
    this.#enterFound();
  }

  #enterFound(): void {
    this.#state = 'found';
    this.#stopSearch();
    while (this.#waiting.give());
    this.#lookTimer = setTimeout(() => this.#look(), postgresBounds.lookMs).unref();
  }

  #lose(how: 'silent' | 'lost', lost: Reached): void {
    if (lost !== this.#primary || this.#state !== 'found') return;
    this.#state = how;
    this.#silentSinceMs = performance.now();
    this.#failures.clear();
    clearTimeout(this.#lookTimer);
    this.#searchTimer = setInterval(() => this.#search(), postgresBounds.lookMs).unref();
    this.#search();
  }

  /** Identifies the primary once. A late answer still counts if no other server was found meanwhile. */
  async #look(): Promise<void> {
    const asked = this.#primary;
    const timer = setTimeout(() => this.#lose('silent', asked), postgresBounds.silenceMs).unref();
    try {
      refuseOtherRole(await identify(asked.connection), 'primary');
      if (asked === this.#primary && ['found', 'silent'].includes(this.#state)) this.#enterFound();
    } catch {
      this.#lose('lost', asked);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Attempts overlap, so that an attempt without an answer does not delay the next. */
  #search(): void {
    for (const url of this.#urls) void this.#attempt(url);
  }

  #stopSearch(): void {
    clearInterval(this.#searchTimer);
    for (const connection of this.#attempts) connection.abandon();
    this.#attempts.clear();
  }

  async #attempt(url: string): Promise<void> {
    let connection: Connection | undefined;
    try {
      // Throws if the address names a certificate that cannot be read.
      connection = new Connection({ connectionString: url });
      this.#attempts.add(connection);
      await connection.connect();
      const server = await this.#examine(connection);
      // It is no longer in the set if another attempt was faster.
      if (this.#attempts.delete(connection)) this.#follow({ url, connection, server });
    } catch (error) {
      if (connection !== undefined) this.#attempts.delete(connection);
      connection?.abandon();
      this.#failures.set(url, `${addressOf(url)}: ${unreachable(error).message}`);
    }
  }

  /** Also rejects a primary that was replaced and does not know it: its data is out of date. */
  async #examine(connection: Connection, timeoutMs?: number): Promise<Server> {
    const server = await examine(connection, 'primary', this.#environment, timeoutMs);
    if (succeeds(this.#primary.server, server)) {
      throw new StoreUnavailable('The database is a former primary that was replaced.');
    }
    return server;
  }

  /** Resolves if the primary answered the last look, or answers within `poolWaitMs`. */
  ping(): Promise<void> {
    return this.#state === 'found' ? Promise.resolve() : this.#waiting.wait();
  }

  whenAvailable(): Promise<void> {
    // A slow server may still answer statements. A frozen one must not get a storm of connections.
    const isSlow = performance.now() - this.#silentSinceMs < postgresBounds.slowMs;
    return this.#state === 'silent' && isSlow ? Promise.resolve() : this.ping();
  }

  async examine(connection: Connection, timeoutMs?: number): Promise<void> {
    const server = await this.#examine(connection, timeoutMs);
    // The address leads to a newer primary than the watched server: search again.
    if (succeeds(server, this.#primary.server)) this.#primary.connection.abandon();
  }

  onReturn(listener: (isOther: boolean) => void): void {
    this.#listeners.push(listener);
  }

  async close(): Promise<void> {
    this.#state = 'closed';
    clearTimeout(this.#lookTimer);
    this.#stopSearch();
    await this.#primary.connection.leave();
  }
}
