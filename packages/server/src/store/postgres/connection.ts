import pg from 'pg';
import { bounds } from '../../bounds.ts';
import { driverTypes } from './types.ts';

/** A connection as all of ours are made. */
export class Connection extends pg.Client {
  constructor(config: pg.ClientConfig) {
    super({
      connectionTimeoutMillis: bounds.postgresConnectMs,
      keepAlive: true,
      application_name: 'partner-network',
      types: driverTypes,
      ...config,
    });
    // Whoever uses it learns of its end from a statement; without a listener it would end the process.
    this.on('error', () => {});
  }

  /**
   * Gives it up, whatever it is at: who waits for it fails at once. The server gets no goodbye, for it may
   * be frozen, and would have to answer that.
   */
  abandon(): void {
    (this as unknown as { connection: pg.Connection }).connection.stream.destroy();
  }

  /** Says goodbye, and does not wait for long until the server has heard it. */
  async leave(): Promise<void> {
    const timer = setTimeout(() => this.abandon(), bounds.postgresCloseMs).unref();
    await this.end();
    clearTimeout(timer);
  }
}

/** Where a server is, without user and password. */
export function addressOf(url: string): string {
  return new URL(url).host || 'localhost';
}
