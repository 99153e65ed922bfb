import type pg from 'pg';

/** A connection, and the statements that are on their way there, one behind the other. */
interface Lane {
  readonly opened: Promise<pg.PoolClient>;
  client: pg.PoolClient | undefined;
  underWay: number;
  /** Settles when the statement that was sent last has its answer. */
  latest: Promise<unknown> | undefined;
}

interface Lanes {
  /** Does the work on a connection, behind what is under way there. */
  run<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result>;
  /** Gives connections back, each as soon as it has nothing to do: one that is lost, the oldest, or all. */
  leave(which: pg.ClientBase | 'oldest' | 'all', isSpent: boolean): void;
  /** Those that are waited for. */
  atWork(): Set<pg.ClientBase>;
  /** How many connections have nothing to do, and how many statements are behind others. */
  use(): { readonly idle: number; readonly waiting: number };
}

interface Settings {
  /** How many connections there may be. */
  readonly most: number;
  readonly acquire: () => Promise<pg.PoolClient>;
  readonly release: (client: pg.PoolClient, isSpent: boolean) => void;
  /** Waits for the statement before, and fails when that takes too long. */
  readonly waitFor: (ahead: Promise<unknown>) => Promise<void>;
  /** Whether a connection is no good after this error. */
  readonly isBroken: (error: unknown) => boolean;
}

/**
 * Statements share connections: each is sent at once, behind those before it. To take a connection out of the
 * pool for each, and to put it back, takes as long as the statement itself. One goes behind others only where
 * all connections are at work, so it waits no longer than it would for one of them.
 */
export function createLanes({ most, acquire, release, waitFor, isBroken }: Settings): Lanes {
  const lanes: Lane[] = [];
  const spent = new WeakSet<Lane>();

  function pick(): Lane {
    let least: Lane | undefined;
    for (const lane of lanes) if (least === undefined || lane.underWay < least.underWay) least = lane;
    return least !== undefined && (least.underWay === 0 || lanes.length >= most) ? least : open();
  }

  function open(): Lane {
    const lane: Lane = { opened: acquire(), client: undefined, underWay: 0, latest: undefined };
    lane.opened.then(
      (client) => {
        lane.client = client;
      },
      () => leave(lane, true),
    );
    lanes.push(lane);
    return lane;
  }

  function leave(lane: Lane, isSpent: boolean): void {
    const place = lanes.indexOf(lane);
    if (isSpent) spent.add(lane);
    if (place === -1) return;
    lanes.splice(place, 1);
    if (lane.underWay === 0) giveBack(lane);
  }

  function giveBack(lane: Lane): void {
    if (lane.client !== undefined) release(lane.client, spent.has(lane));
  }

  function settle(lane: Lane): void {
    lane.underWay -= 1;
    if (lane.underWay > 0) return;
    lane.latest = undefined;
    if (!lanes.includes(lane)) giveBack(lane);
  }

  return {
    async run(work) {
      const lane = pick();
      const ahead = lane.latest;
      const answered = lane.opened.then(work);
      lane.latest = answered;
      lane.underWay += 1;
      answered.then(
        () => settle(lane),
        (error) => {
          if (isBroken(error)) leave(lane, true);
          settle(lane);
        },
      );
      if (ahead !== undefined) await waitFor(ahead);
      return answered;
    },

    leave(which, isSpent) {
      const chosen =
        which === 'oldest'
          ? lanes.slice(0, 1)
          : lanes.filter(({ client }) => which === 'all' || client === which);
      for (const lane of chosen) leave(lane, isSpent);
    },

    atWork: () => new Set(lanes.flatMap(({ client, underWay }) => (client && underWay > 0 ? [client] : []))),

    use: () => ({
      idle: lanes.filter(({ underWay }) => underWay === 0).length,
      waiting: lanes.reduce((sum, { underWay }) => sum + Math.max(0, underWay - 1), 0),
    }),
  };
}
