import { setTimeout as wait } from 'node:timers/promises';
import { postgresBounds } from '@partner-network/common/bounds/store';
import type { MetricName } from '@partner-network/common/observability/catalogue';
import { type Metric, metric } from '@partner-network/common/observability/metric';
import { note } from '@partner-network/common/observability/span';
import type { Environment } from '@partner-network/contract/environments';
import { StoreUnavailable } from '../../port.ts';
import type { Value } from '../../sql/statement.ts';
import { replayed, type Statement, written } from '../statements.ts';
import { addressOf } from './connection.ts';
import { Pool, type PoolSettings, type Rows } from './pool.ts';
import type { PrimaryWatch } from './primary-watch.ts';
import { examineReplica, type Source } from './server.ts';

export type Replicas = ReturnType<typeof createReplicas>;

type Settings = Omit<PoolSettings, 'source'>;
type Replica = ReturnType<typeof createReplica>;

/** The time of a replica that is not used until it is measured again. */
const notMeasured = Number.NEGATIVE_INFINITY;

function createReplica(url: string, primary: PrimaryWatch, environment: Environment, settings: Settings) {
  const source: Source = {
    url,
    whenAvailable: () => Promise.resolve(),
    examine: (connection) => examineReplica(connection, environment, primary.server),
  };
  const pool = new Pool({ ...settings, source });
  const name = addressOf(url);
  // After a failover, the replica of a region can be the primary, which serves its pages as such.
  const isPrimary = () => name === addressOf(primary.url);
  // currentAtMs: when the primary was at the position that this replica has replayed.
  return { name, isPrimary, pool, currentAtMs: notMeasured, pages: 0 };
}

const lagMs = ({ currentAtMs }: Replica) => performance.now() - currentAtMs;
const isUsed = (replica: Replica) => lagMs(replica) < postgresBounds.replicaLagMs;

export function createReplicas(
  primaryWatch: PrimaryWatch,
  urls: readonly string[],
  environment: Environment,
  settings: Settings,
) {
  // A separate connection: if all others are busy, replicas must stay in use.
  const primary = new Pool({ ...settings, source: primaryWatch, connections: 1 });
  const replicas = urls.map((url) => createReplica(url, primaryWatch, environment, settings));
  /** Where the primary's log was at times of our own clock. Clocks of servers are never compared. */
  const marks: { atMs: number; position: bigint }[] = [];
  const stopped = new AbortController();
  let turn = 0;

  async function measure(replica: Replica): Promise<void> {
    if (replica.isPrimary()) throw new StoreUnavailable('The replica is the primary.');
    const reached = positionOf(await replica.pool.query(replayed, []));
    // The time is taken first: the position includes everything that was committed by then.
    const atMs = performance.now();
    const position = positionOf(await primary.query(written, []));
    marks.push({ atMs, position });
    while (atMs - marks[0]!.atMs > postgresBounds.replicaMarksMs) marks.shift();
    // A replica ahead of the primary follows another server, which was replaced.
    const mark = position < reached ? undefined : marks.findLast((mark) => mark.position <= reached);
    replica.currentAtMs = mark?.atMs ?? notMeasured;
  }

  async function keepMeasuring(replica: Replica): Promise<void> {
    const { signal } = stopped;
    while (!signal.aborted) {
      await measure(replica).catch(() => {
        replica.currentAtMs = notMeasured;
      });
      await wait(postgresBounds.replicaWatchMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  for (const replica of replicas) void keepMeasuring(replica);
  primaryWatch.onReturn(() => {
    // Positions of the former primary say nothing about the new one.
    marks.length = 0;
    for (const replica of replicas) replica.currentAtMs = notMeasured;
  });

  return {
    /**
     * Reads from a replica that is less than `replicaLagMs` behind and had replayed up to `walPosition`
     * before it read. Resolves to undefined if no replica qualifies.
     */
    async query(
      statement: Statement,
      values: readonly Value[],
      walPosition: bigint,
    ): Promise<Rows | undefined> {
      const usable = replicas.filter(isUsed);
      const replica = usable[turn++ % usable.length];
      if (replica === undefined) return undefined;
      const rows = await readFrom(replica, statement, values, walPosition);
      const server = `replica ${replicas.indexOf(replica) + 1}`;
      if (rows !== undefined) note({ 'partner_network.database.server': server });
      return rows;
    },
    metrics: metricsOf(replicas),
    async close(): Promise<void> {
      stopped.abort();
      await Promise.all([primary, ...replicas.map(({ pool }) => pool)].map((pool) => pool.close()));
    },
  };
}

async function readFrom(
  replica: Replica,
  statement: Statement,
  values: readonly Value[],
  walPosition: bigint,
): Promise<Rows | undefined> {
  const read = () => replica.pool.queryAfterProgress(statement, values, postgresBounds.replicaAnswerMs);
  try {
    let found = await read();
    if (positionOf(found.progress) < walPosition) {
      // A standby can show a commit just before the primary does. The next page of a client that saw it must
      // not go to the primary at once.
      await wait(postgresBounds.replicaCatchUpMs);
      found = await read();
    }
    if (positionOf(found.progress) < walPosition) return undefined;
    replica.pages += 1;
    return found.rows;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    replica.currentAtMs = notMeasured;
    return undefined;
  }
}

function metricsOf(replicas: readonly Replica[]): Metric[] {
  const metricOfEach = (name: MetricName, value: (replica: Replica) => number) =>
    metric(name, () => Object.fromEntries(replicas.map((replica) => [replica.name, value(replica)])));
  return [
    metricOfEach('partner_network_replica_lag_seconds', (replica) =>
      replica.currentAtMs === notMeasured ? Number.NaN : lagMs(replica) / 1_000,
    ),
    metricOfEach('partner_network_replica_used', (replica) =>
      replica.isPrimary() ? Number.NaN : Number(isUsed(replica)),
    ),
    metricOfEach('partner_network_replica_pages_total', ({ pages }) => pages),
  ];
}

/** The log position in a row, or -1, which is before all positions, if the server has no position. */
export function positionOf(rows: Rows): bigint {
  return BigInt((rows[0]!.position as string | null) ?? -1);
}
