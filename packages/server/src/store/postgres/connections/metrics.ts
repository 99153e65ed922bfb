import { type Metric, metricByLabel, type Reading, singleMetric } from '../../../observability/metric.ts';
import type { Pool } from './pool.ts';
import type { Replicas } from './replicas.ts';

/** What operators can see of the connections and the replicas. */
export function storeMetrics(primary: Pool, replicas: Replicas | undefined): Metric[] {
  const connections = metricByLabel(
    'partner_network_database_connections',
    'gauge',
    'Connections to the primary: all that are open, those at work, and callers who wait for one.',
    'state',
    primary.use,
  );
  const ofConnections = [connections, ...waitMetrics(primary)];
  if (replicas === undefined) return ofConnections;

  const ofEach = (value: (state: ReturnType<Replicas['states']>[number]) => number): Reading[] =>
    replicas.states().map((state) => ({ labels: { replica: state.name }, value: value(state) }));
  return [
    ...ofConnections,
    {
      name: 'partner_network_replica_lag_seconds',
      help: 'How long ago the primary was where the replica is now; NaN when that is not known.',
      type: 'gauge',
      labels: ['replica'],
      read: () => ofEach(({ lagMs }) => lagMs / 1_000),
    },
    {
      name: 'partner_network_replica_used',
      help: '1 when list brands may read from the replica, 0 when it is left out.',
      type: 'gauge',
      labels: ['replica'],
      read: () => ofEach(({ isUsed }) => (isUsed ? 1 : 0)),
    },
    {
      name: 'partner_network_replica_pages_total',
      help: 'Pages of brands that the replica served.',
      type: 'counter',
      labels: ['replica'],
      read: () => ofEach(({ pages }) => pages),
    },
  ];
}

function waitMetrics({ waits }: Pool): Metric[] {
  return [
    {
      name: 'partner_network_database_wait_seconds',
      help: 'How long callers waited for a connection to the primary when all were at work.',
      type: 'histogram',
      labels: [],
      read: () => waits.seconds.read(),
    },
    singleMetric(
      'partner_network_database_wait_timeouts_total',
      'counter',
      'Callers who waited for a connection to the primary in vain.',
      waits.inVain,
    ),
  ];
}
