import pg from 'pg';
import { postgresBounds } from '../../../bounds/postgres.ts';
import { driverTypes } from './types.ts';

interface Stream {
  on(event: string, listener: (bytes: Buffer) => void): void;
  destroy(error?: unknown): void;
}

/** The driver's own half of a connection, of which its types say little. */
interface Wire {
  readonly stream: Stream;
  attachListeners(stream: Pick<Stream, 'on'>): void;
}

/** A connection as all of ours are made. */
export class Connection extends pg.Client {
  constructor(config: pg.ClientConfig) {
    super({
      connectionTimeoutMillis: postgresBounds.postgresConnectMs,
      keepAlive: true,
      application_name: 'partner-network',
      types: driverTypes,
      ...config,
    });
    // Whoever uses it learns of its end from a statement; without a listener it would end the process.
    this.on('error', () => {});
    guard(wireOf(this));
  }

  /**
   * Gives it up, whatever it is at: who waits for it fails at once. The server gets no goodbye, for it may
   * be frozen, and would have to answer that.
   */
  abandon(): void {
    wireOf(this).stream.destroy();
  }

  /** Says goodbye, and does not wait for long until the server has heard it. */
  async leave(): Promise<void> {
    const timer = setTimeout(() => this.abandon(), postgresBounds.postgresCloseMs).unref();
    await this.end();
    clearTimeout(timer);
  }
}

function wireOf(client: pg.Client): Wire {
  return (client as unknown as { connection: Wire }).connection;
}

/** What cannot be read as an answer of Postgres is thrown where it arrives, and would end the process. */
function guard(wire: Wire): void {
  const attach = wire.attachListeners.bind(wire);
  wire.attachListeners = (stream: Pick<Stream, 'on'>) =>
    attach({
      on: (event, listener) =>
        stream.on(event, (bytes) => {
          try {
            listener(bytes);
          } catch (error) {
            wire.stream.destroy(error);
          }
        }),
    });
}

/** What each connection of an instance that serves is called, and how they begin. */
export const instancePrefix = 'partner-network serve ';

/** An address whose connections the server shows under this name. */
export function urlUnderName(url: string, name: string): string {
  const named = new URL(url);
  named.searchParams.set('application_name', name);
  return named.href;
}

/** Where a server is, without user and password. */
export function addressOf(url: string): string {
  return new URL(url).host || 'localhost';
}
