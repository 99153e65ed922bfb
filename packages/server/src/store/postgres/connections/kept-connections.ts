import type pg from 'pg';

type Client = pg.PoolClient;

interface KeptConnections {
  /** One that nobody uses, or a new one; undefined when all that there may be are at work. */
  take(): Client | Promise<Client> | undefined;
  /** The next that comes free, in the order in which callers ask for it. */
  wait(): { readonly free: Promise<Client>; giveUp(): void };
  /** Done with one, which may be no good any more. */
  give(client: Client, isSpent: boolean): void;
  /** One has ended by itself. */
  drop(client: pg.ClientBase): void;
  /** Lets go of the one that has been kept longest, as soon as nobody uses it. */
  renewOldest(): void;
  /** How many nobody uses, and how many callers wait for one. */
  free(): number;
  waiting(): number;
  /** From now on none is kept. */
  close(): void;
}

/**
 * Keeps connections of the pool from one statement to the next: to take one out of it for each statement, and
 * to put it back, was about a fifth of what a statement took of this process.
 */
export function createKeptConnections(
  most: number,
  open: () => Promise<Client>,
  release: (client: Client, isSpent: boolean) => void,
): KeptConnections {
  /** Those that were opened and not released, oldest first, and of these the ones that nobody uses. */
  const kept = new Set<Client>();
  const free: Client[] = [];
  const leaving = new WeakSet<Client>();
  const waiting = new Set<PromiseWithResolvers<Client>>();
  let opening = 0;
  let isClosed = false;

  function openOne(): Promise<Client> {
    opening += 1;
    return open().then(
      (client) => {
        opening -= 1;
        kept.add(client);
        return client;
      },
      (error) => {
        opening -= 1;
        openForNext();
        throw error;
      },
    );
  }

  /** There is room for another: whoever waits longest gets it. */
  function openForNext(): void {
    const next = takeNext();
    if (next !== undefined) openOne().then(next.resolve, next.reject);
  }

  function takeNext(): PromiseWithResolvers<Client> | undefined {
    const [next] = waiting;
    if (next !== undefined) waiting.delete(next);
    return next;
  }

  function letGo(client: Client, isSpent: boolean): void {
    kept.delete(client);
    leaving.delete(client);
    release(client, isSpent);
    openForNext();
  }

  /** Whether it was free; then it is taken. */
  function takeFree(client: pg.ClientBase): client is Client {
    const place = free.indexOf(client as Client);
    if (place !== -1) free.splice(place, 1);
    return place !== -1;
  }

  function give(client: Client, isSpent: boolean): void {
    if (isSpent || isClosed || leaving.has(client)) {
      letGo(client, isSpent);
      return;
    }
    const next = takeNext();
    if (next === undefined) free.push(client);
    else next.resolve(client);
  }

  return {
    take() {
      const client = free.pop();
      if (client !== undefined) return client;
      return kept.size + opening < most ? openOne() : undefined;
    },

    wait() {
      const next = Promise.withResolvers<Client>();
      waiting.add(next);
      const ignore = () => {};
      const giveUp = () => {
        // One that is on its way already goes to somebody else.
        if (!waiting.delete(next)) next.promise.then((client) => give(client, false), ignore);
      };
      return { free: next.promise, giveUp };
    },

    give,

    drop(client) {
      if (takeFree(client)) letGo(client, true);
    },

    renewOldest() {
      const [oldest] = kept;
      if (oldest === undefined) return;
      if (takeFree(oldest)) letGo(oldest, false);
      else leaving.add(oldest);
    },

    free: () => free.length,
    waiting: () => waiting.size,

    close() {
      isClosed = true;
      for (const client of free.splice(0)) letGo(client, false);
    },
  };
}
