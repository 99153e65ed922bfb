import type { Environment } from '@partner-network/contract/environments';
import { bounds } from '../../bounds.ts';
import { StoreUnavailable } from '../port.ts';
import { addressOf, Connection } from './connection.ts';
import { unreachable } from './errors.ts';
import { examine, identify, isSame, type Role, refuseOtherRole, type Server, succeeds } from './server.ts';

interface LookoutSettings {
  /** One server under several addresses, of which one at a time has the role. */
  readonly urls: readonly string[];
  readonly role: Role;
  readonly environment: Environment;
  /** Where the server is known to be. */
  readonly first?: Sighting;
}

/** A server that has the role, and the connection over which that is known. */
export interface Sighting {
  readonly url: string;
  readonly client: Connection;
  readonly server: Server;
}

/**
 * Knows where the server with a role is. It asks that server again and again, over a connection of its own,
 * and when there is no answer it looks at all addresses at once until one of them has the role. So a fail
 * over is noticed without a request that runs into it, and while there is no server, nobody storms its
 * address.
 */
export interface Lookout {
  readonly role: Role;
  /** Where the server is, or was. */
  readonly url: string;
  /** Resolves when it is there, at once as a rule; a request waits only so long for it. */
  found(): Promise<void>;
  /** Refuses a new connection that does not lead to the server. */
  examine(client: Connection): Promise<void>;
  /** Calls back when another server has taken the place: connections to the one before are of no use. */
  onChange(listener: () => void): void;
  close(): Promise<void>;
}

export function createLookout({ urls, role, environment, first }: LookoutSettings): Lookout {
  const listeners: (() => void)[] = [];
  const waiting = new Set<() => void>();
  const attempts = new Set<Connection>();
  const faults = new Map<string, string>();
  let latest: Sighting | undefined;
  let state: 'found' | 'silent' | 'lost' | 'closed' = 'lost';
  let searching: NodeJS.Timeout | undefined;
  let watching: NodeJS.Timeout | undefined;

  function find(sighting: Sighting): void {
    const isOther = latest !== undefined && isOtherThan(latest, sighting);
    if (latest !== sighting) {
      latest?.client.abandon();
      sighting.client.once('end', () => lose(sighting, 'lost'));
    }
    latest = sighting;
    state = 'found';
    stopSearch();
    if (isOther) for (const listener of listeners) listener();
    for (const goOn of waiting) goOn();
    watching = setTimeout(() => watch(sighting), bounds.postgresLookMs).unref();
  }

  function isOtherThan(before: Sighting, sighting: Sighting): boolean {
    if (before === sighting) return false;
    // A way that has gone silent is not trusted any more, though the same server answers on another.
    return state === 'silent' || !isSame(before.server, sighting.server);
  }

  function lose(sighting: Sighting, how: 'silent' | 'lost'): void {
    if (sighting !== latest || state !== 'found') return;
    state = how;
    clearTimeout(watching);
    search();
  }

  /** Asks once. An answer that comes late still counts, when no other server was found meanwhile. */
  async function watch(sighting: Sighting): Promise<void> {
    const patience = setTimeout(() => lose(sighting, 'silent'), bounds.postgresSilenceMs).unref();
    try {
      refuseOtherRole(await identify(sighting.client), role);
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
    searching = setInterval(lookEverywhere, bounds.postgresLookMs).unref();
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
      const server = await examine(client, role, environment);
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
    if (latest !== undefined && succeeds(latest.server, server)) {
      throw new StoreUnavailable('The database is a primary that has been replaced.');
    }
  }

  if (first === undefined) search();
  else find(first);

  return {
    role,

    get url() {
      return (latest?.url ?? urls[0])!;
    },

    found() {
      if (state === 'found') return Promise.resolve();
      return new Promise((resolve, reject) => {
        const goOn = () => {
          clearTimeout(timer);
          waiting.delete(goOn);
          resolve();
        };
        const timer = setTimeout(() => {
          waiting.delete(goOn);
          reject(new StoreUnavailable(`There is no ${role}. ${[...faults.values()].join(' ')}`));
        }, bounds.postgresPoolWaitMs);
        waiting.add(goOn);
      });
    },

    async examine(client) {
      const server = await examine(client, role, environment);
      refuseDeposed(server);
      // The address leads elsewhere by now, and the connection that we watch is one of those to the past.
      if (latest !== undefined && succeeds(server, latest.server)) latest.client.abandon();
    },

    onChange: (listener) => {
      listeners.push(listener);
    },

    async close() {
      state = 'closed';
      clearTimeout(watching);
      stopSearch();
      await latest?.client.leave();
    },
  };
}
