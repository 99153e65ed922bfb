import { setTimeout as wait } from 'node:timers/promises';
import type { Environment } from '@partner-network/contract/environments';
import { postgresBounds } from '../../../bounds/postgres.ts';
import type { Metric } from '../../../observability/metric.ts';
import { note } from '../../../observability/span.ts';
import { StoreUnavailable } from '../../port.ts';
import type { Value } from '../../sql/accounts.ts';
import { replayed, type Statement, written } from '../statements.ts';
import { addressOf } from './connection.ts';
import { createPool, type Pool, type PoolSettings, type Rows, type Source } from './pool.ts';
import type { PrimaryWatch } from './primary-watch.ts';
import { examineReplica } from './server.ts';

export interface Replicas {
  /**
   * Reads from a replica that is less than `replicaLagMs` behind and had replayed up to `walPosition` before
   * it read. Resolves to undefined if there is none.
   */
  query(statement: Statement, values: readonly Value[], walPosition: bigint): Promise<Rows | undefined>;
  readonly metrics: readonly Metric[];
  close(): Promise<void>;
}

interface Replica {
  readonly name: string;
  readonly pool: Pool;
  /** When the primary was at the position that this replica has replayed. -Infinity if unknown. */
  currentAtMs: number;
  pages: number;
}

/** Where the primary's log was at a time of our own clock. Clocks of servers are never compared. */
interface Mark {
  readonly atMs: number;
  readonly position: bigint;
}

export function createReplicas(
  primaryWatch: PrimaryWatch,
  urls: readonly string[],
  environment: Environment,
  settings: Omit<PoolSettings, 'source'>,
): Replicas {
  // A separate connection: if all others are busy, replicas must stay in use.
  const primary = createPool({ ...settings, source: primaryWatch, connections: 1 });
  const replicas = urls.map((url): Replica => {
    const source: Source = {
      url,
      whenAvailable: () => Promise.resolve(),
      examine: (connection) => examineReplica(connection, environment, primaryWatch.server),
    };
    const pool = createPool({ ...settings, source });
    return { name: addressOf(url), pool, currentAtMs: Number.NEGATIVE_INFINITY, pages: 0 };
  });
  const marks: Mark[] = [];
  let turn = 0;

  const lagMs = ({ currentAtMs }: Replica) => performance.now() - currentAtMs;
  const isUsed = (replica: Replica) => lagMs(replica) < postgresBounds.replicaLagMs;

  async function markPrimary(): Promise<void> {
    // The time is taken first: the position includes everything that was committed by then.
    const atMs = performance.now();
    marks.push({ atMs, position: positionOf(await primary.query(written, [])) });
    while (atMs - marks[0]!.atMs > postgresBounds.replicaMarksMs) marks.shift();
  }

  async function measure(replica: Replica): Promise<void> {
    try {
      const position = positionOf(await replica.pool.query(replayed, []));
      await markPrimary();
      // A replica ahead of the primary follows another server, which was replaced.
      const isAhead = marks.at(-1)!.position < position;
      const reached = isAhead ? undefined : marks.findLast((mark) => mark.position <= position);
      replica.currentAtMs = reached?.atMs ?? Number.NEGATIVE_INFINITY;
    } catch (error) {
      leaveOut(replica);
      throw error;
    }
  }

  const stops = replicas.map((replica) => repeat(() => measure(replica)));
  primaryWatch.onReturn?.(() => {
    // Positions of the former primary say nothing about the new one.
    marks.length = 0;
    for (const replica of replicas) leaveOut(replica);
  });

  const replicaMetric = (
    name: Metric['name'],
    type: 'gauge' | 'counter',
    help: string,
    value: (replica: Replica) => number,
  ): Metric => ({
    name,
    help,
    type,
    read: () => replicas.map((replica) => ({ labels: { replica: replica.name }, value: value(replica) })),
  });

  return {
    async query(statement, values, walPosition) {
      const usable = replicas.filter(isUsed);
      const replica = usable[turn++ % usable.length];
      if (replica === undefined) return undefined;
      const read = () => replica.pool.queryAfterProgress(statement, values, postgresBounds.replicaAnswerMs);
      try {
        let [progress, rows] = await read();
        if (positionOf(progress) < walPosition) {
          // A standby can show a commit just before the primary does. The next page of a client that saw it
          // must not go to the primary at once.
          await wait(postgresBounds.replicaCatchUpMs);
          [progress, rows] = await read();
        }
        if (positionOf(progress) < walPosition) return undefined;
        replica.pages += 1;
        note({ 'partner_network.database.server': `replica ${replicas.indexOf(replica) + 1}` });
        return rows;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        leaveOut(replica);
        return undefined;
      }
    },

    metrics: [
      replicaMetric(
        'partner_network_replica_lag_seconds',
        'gauge',
        'How long ago the primary was where the replica is now; NaN when that is not known.',
        (replica) => (Number.isFinite(replica.currentAtMs) ? lagMs(replica) / 1_000 : Number.NaN),
      ),
      replicaMetric(
        'partner_network_replica_used',
        'gauge',
        '1 when list brands may read from the replica, 0 when it is left out.',
        (replica) => (isUsed(replica) ? 1 : 0),
      ),
      replicaMetric(
        'partner_network_replica_pages_total',
        'counter',
        'Pages of brands that the replica served.',
        ({ pages }) => pages,
      ),
    ],

    async close() {
      for (const stop of stops) stop();
      await Promise.all([primary, ...replicas.map(({ pool }) => pool)].map((pool) => pool.close()));
    },
  };
}

/** Does not use the replica until it is measured again. */
function leaveOut(replica: Replica): void {
  replica.currentAtMs = Number.NEGATIVE_INFINITY;
}

/** -1, which is before all positions, if the server has none. */
export function positionOf(rows: Rows): bigint {
  return BigInt((rows[0]!.position as string | null) ?? -1);
}

/** Repeats the work every `replicaWatchMs`, whether it fails or not. Returns a function that stops it. */
function repeat(work: () => Promise<void>): () => void {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  async function loop(): Promise<void> {
    await work().catch(() => {});
    if (!isStopped) timer = setTimeout(loop, postgresBounds.replicaWatchMs).unref();
  }
  void loop();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
