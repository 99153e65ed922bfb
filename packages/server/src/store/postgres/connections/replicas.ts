import { setTimeout as wait } from 'node:timers/promises';
import type { Environment } from '@partner-network/contract/environments';
import { postgresBounds } from '../../../bounds/postgres.ts';
import { note } from '../../../observability/span.ts';
import { StoreUnavailable } from '../../port.ts';
import type { Value } from '../../sql/accounts.ts';
import { replayed, type Statement, written } from '../statements.ts';
import { addressOf } from './connection.ts';
import { createPool, type Pool, type PoolSettings, type Rows, type Source } from './pool.ts';
import type { Lookout } from './primary-watch.ts';
import { examineReplica } from './server.ts';

/** How it stands with a replica, for those who watch. */
interface ReplicaState {
  /** Where it is, without user and password. */
  readonly name: string;
  readonly isUsed: boolean;
  /** How long ago the primary was where it is now; NaN when that is not known. */
  readonly lagMs: number;
  readonly pages: number;
}

export interface Replicas {
  /**
   * The rows from a replica that is less than a second behind, and had replayed up to walPosition before it
   * read them; undefined when there is no such replica.
   */
  query(statement: Statement, values: readonly Value[], walPosition: bigint): Promise<Rows | undefined>;
  states(): readonly ReplicaState[];
  close(): Promise<void>;
}

interface Replica {
  readonly name: string;
  readonly pool: Pool;
  /** When the primary had what this replica has replayed. */
  currentAtMs: number;
  pages: number;
}

interface Mark {
  readonly atMs: number;
  readonly position: bigint;
}

/** Clocks of servers are not compared: what counts is how long ago the primary was where a replica is now. */
export function createReplicas(
  lookout: Lookout,
  urls: readonly string[],
  environment: Environment,
  settings: Omit<PoolSettings, 'source'>,
): Replicas {
  // A connection apart: when all of the others are in use, replicas must not be left out for it.
  const primary = createPool({ ...settings, source: lookout, connections: 1 });
  const replicas = urls.map((url): Replica => {
    const source: Source = {
      role: 'standby',
      url,
      found: () => Promise.resolve(),
      examine: (client) => examineReplica(client, environment, lookout.server),
    };
    const pool = createPool({ ...settings, source });
    return { name: addressOf(url), pool, currentAtMs: Number.NEGATIVE_INFINITY, pages: 0 };
  });
  const marks: Mark[] = [];
  let turn = 0;

  const isFresh = ({ currentAtMs }: Replica) => performance.now() - currentAtMs < postgresBounds.replicaLagMs;

  async function markPrimary(): Promise<void> {
    // Taken before the question: what was committed by then is in the answer.
    const atMs = performance.now();
    const position = positionOf(await primary.query(written, []));
    marks.push({ atMs, position });
    while (atMs - marks[0]!.atMs > postgresBounds.replicaMarksMs) marks.shift();
  }

  async function measure(replica: Replica): Promise<void> {
    try {
      const position = positionOf(await replica.pool.query(replayed, []));
      await markPrimary();
      // One that is ahead of the primary follows another, which has been replaced.
      const isAstray = marks.at(-1)!.position < position;
      const reached = isAstray ? undefined : marks.findLast((mark) => mark.position <= position);
      replica.currentAtMs = reached?.atMs ?? Number.NEGATIVE_INFINITY;
    } catch (error) {
      leaveOut(replica);
      throw error;
    }
  }

  const watches = replicas.map((replica) => watch(() => measure(replica)));
  lookout.onReturn?.(() => {
    // Where the primary was does not say where another one is.
    marks.length = 0;
    for (const replica of replicas) leaveOut(replica);
  });

  return {
    async query(statement, values, walPosition) {
      const fresh = replicas.filter(isFresh);
      const replica = fresh[turn++ % fresh.length];
      if (replica === undefined) return undefined;
      try {
        const ask = () => replica.pool.queryAfterProgress(statement, values, postgresBounds.replicaAnswerMs);
        let [before, rows] = await ask();
        if (positionOf(before) < walPosition) {
          // A standby can show a commit an instant before the primary does, which has yet to let others see
          // what it has written. So a walk that was ahead does not go to the primary at once.
          await wait(postgresBounds.replicaCatchUpMs);
          [before, rows] = await ask();
        }
        if (positionOf(before) < walPosition) return undefined;
        replica.pages += 1;
        note({ 'partner_network.database.server': `replica ${replicas.indexOf(replica) + 1}` });
        return rows;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        leaveOut(replica);
        return undefined;
      }
    },

    states: () =>
      replicas.map((replica) => ({
        name: replica.name,
        isUsed: isFresh(replica),
        lagMs: Number.isFinite(replica.currentAtMs) ? performance.now() - replica.currentAtMs : Number.NaN,
        pages: replica.pages,
      })),

    async close() {
      for (const stop of watches) stop();
      await Promise.all([primary, ...replicas.map(({ pool }) => pool)].map((pool) => pool.close()));
    },
  };
}

/** Until it is measured again. */
function leaveOut(replica: Replica): void {
  replica.currentAtMs = Number.NEGATIVE_INFINITY;
}

/** Before all others when there is none. */
function positionOf(rows: Rows): bigint {
  return BigInt((rows[0]!.position as string | null) ?? -1);
}

/** Looks again and again; a look that fails is worth no more than the next one. */
function watch(look: () => Promise<void>): () => void {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  async function loop(): Promise<void> {
    await look().catch(() => {});
    if (!isStopped) timer = setTimeout(loop, postgresBounds.replicaWatchMs).unref();
  }
  void loop();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
