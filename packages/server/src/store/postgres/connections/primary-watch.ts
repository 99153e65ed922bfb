import type { Environment } from '@partner-network/contract/environments';
import { postgresBounds } from '../../../bounds/postgres.ts';
import { StoreUnavailable } from '../../port.ts';
import { addressOf, Connection } from './connection.ts';
import { unreachable } from './errors.ts';
import type { Source } from './pool.ts';
import { examine, identify, isSame, refuseOtherRole, type Server, succeeds } from './server.ts';

interface LookoutSettings {
  /** One database under several addresses, of which one at a time is the primary. */
  readonly urls: readonly string[];
  readonly environment: Environment;
  /** Where the primary is to begin with. */
  readonly first: Sighting;
}

/** A primary, and the connection over which it is known to be one. */
export interface Sighting {
  readonly url: string;
  readonly client: Connection;
  readonly server: Server;
}

/**
 * Knows where the primary is. It asks that server again and again, over a connection of its own, and when
 * there is no answer it looks at all addresses at once until one of them is a primary. So a fail over is
 * noticed without a request that runs into it, and while there is no server, nobody storms its address.
 */
export interface Lookout extends Source {
  /** Resolves when the primary has just answered. */
  ping(): Promise<void>;
  /** The primary, as it was last seen. */
  readonly server: Server;
  close(): Promise<void>;
}

export function createLookout({ urls, environment, first }: LookoutSettings): Lookout {
  const listeners: ((isOther: boolean) => void)[] = [];
  const waiting = new Set<() => void>();
  const attempts = new Set<Connection>();
  const faults = new Map<string, string>();
  let latest = first;
  let state: 'found' | 'silent' | 'lost' | 'closed' = 'lost';
  let silentSinceMs = 0;
  let searching: NodeJS.Timeout | undefined;
  let watching: NodeJS.Timeout | undefined;

  function find(sighting: Sighting): void {
    const before = latest;
    latest = sighting;
    state = 'found';
    stopSearch();
    if (before !== sighting) {
      before.client.abandon();
      sighting.client.once('end', () => lose(sighting, 'lost'));
      for (const listener of listeners) listener(!isSame(before.server, sighting.server));
    }
    for (const goOn of waiting) goOn();
    watching = setTimeout(() => watch(sighting), postgresBounds.postgresLookMs).unref();
  }

  function lose(sighting: Sighting, how: 'silent' | 'lost'): void {
    if (sighting !== latest || state !== 'found') return;
    state = how;
    silentSinceMs = performance.now();
    clearTimeout(watching);
    search();
  }

  /** Asks once. An answer that comes late still counts, when no other server was found meanwhile. */
  async function watch(sighting: Sighting): Promise<void> {
    const patience = setTimeout(() => lose(sighting, 'silent'), postgresBounds.postgresSilenceMs).unref();
    try {
      refuseOtherRole(await identify(sighting.client), 'primary');
      if (sighting === latest && (state === 'found' || state === 'silent')) find(sighting);
    } catch {
      lose(sighting, 'lost');
    } finally {
      clearTimeout(patience);
    }
  }

  /** Attempts overlap: one that was made in a moment of silence must not keep the next one waiting. */
  function search(): void {
    const lookEverywhere = () => {
      for (const url of urls) void attempt(url);
    };
    searching = setInterval(lookEverywhere, postgresBounds.postgresLookMs).unref();
    lookEverywhere();
  }

  function stopSearch(): void {
    clearInterval(searching);
    faults.clear();
    for (const client of attempts) client.abandon();
    attempts.clear();
  }

  async function attempt(url: string): Promise<void> {
    let client: Connection | undefined;
    try {
      // An address can name a certificate, which is read now, and may not be there.
      client = new Connection({ connectionString: url });
      attempts.add(client);
      await client.connect();
      const server = await examine(client, 'primary', environment);
      refuseDeposed(server);
      // Another one was faster.
      if (!attempts.delete(client)) return;
      find({ url, client, server });
    } catch (error) {
      client?.abandon();
      const isOurs = client === undefined || attempts.delete(client);
      if (isOurs) faults.set(url, `${addressOf(url)}: ${unreachable(error).message}`);
    }
  }

  /** A primary in whose place another one was promoted, and which does not know it, shows the past. */
  function refuseDeposed(server: Server): void {
    if (succeeds(latest.server, server)) {
      throw new StoreUnavailable('The database is a primary that has been replaced.');
    }
  }

  function waitFor(): Promise<void> {
    return new Promise((resolve, reject) => {
      const goOn = () => {
        clearTimeout(timer);
        waiting.delete(goOn);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(goOn);
        reject(new StoreUnavailable(`There is no primary. ${[...faults.values()].join(' ')}`));
      }, postgresBounds.postgresPoolWaitMs);
      waiting.add(goOn);
    });
  }

  first.client.once('end', () => lose(first, 'lost'));
  find(first);

  return {
    role: 'primary',

    get url() {
      return latest.url;
    },

    get server() {
      return latest.server;
    },

    ping: () => (state === 'found' ? Promise.resolve() : waitFor()),

    found() {
      // One that is only slow to answer us may still answer others; one that is frozen must not be stormed.
      const isSlow = state === 'silent' && performance.now() - silentSinceMs < postgresBounds.postgresSlowMs;
      return state === 'found' || isSlow ? Promise.resolve() : waitFor();
    },

    async examine(client) {
      const server = await examine(client, 'primary', environment);
      refuseDeposed(server);
      // The address leads elsewhere by now, and the connection that we watch is one of those to the past.
      if (succeeds(server, latest.server)) latest.client.abandon();
    },

    onReturn: (listener) => {
      listeners.push(listener);
    },

    async close() {
      state = 'closed';
      clearTimeout(watching);
      stopSearch();
      await latest.client.leave();
    },
  };
}
