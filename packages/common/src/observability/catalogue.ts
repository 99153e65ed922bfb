/** Every metric of the service. The reference page of the metrics is generated from this table. */

interface MetricDescription {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** The values of each label, as Markdown for the reference page. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The setting that turns the metric on, as Markdown. */
  readonly onlyWith?: string;
}

const operation = '`brands`, `balances`';
const apiOperation = '`listBrands`, `listBalances`, `other` (any other path)';
const replica = 'host and port of the replica';
const kind = '`brands`, `balances`, `grants`';
const ofLine = '`written`, `unchanged`, `stale`, `deleted`, `rejected`';

const metrics = {
  partner_network_ready: {
    type: 'gauge',
    help: '1 if requests or lines can be processed, 0 without the database or while the instance drains. With `admin`, also 0 if no change can be written.',
  },
  partner_network_write_probe: {
    type: 'gauge',
    help: '1 if a change can be written, 0 if not. Every 15 seconds, a change is tried and rolled back.',
    onlyWith: '`admin`',
  },
  partner_network_key_expiry_seconds: {
    type: 'gauge',
    help: 'Time until the first expiry of a key that still works: of partners, or of `admin` its own keys. Absent if none expires.',
    onlyWith: '`serve` and `admin`',
  },
  partner_network_requests_total: {
    type: 'counter',
    help: 'Responses to clients, including 503 to shed requests and 4xx to data that is not a valid request.',
    labels: {
      operation: apiOperation,
      status: 'HTTP status',
      code: 'code of the first error; absent if there is no error',
    },
  },
  partner_network_request_duration_seconds: {
    type: 'histogram',
    help: 'Time from the head of a request to the last byte of its response. Requests that are shed before their key is read are not included.',
    labels: {
      operation: apiOperation,
      outcome: '`answered` (below 400), `refused` (400 to 499), `failed` (500 and above)',
    },
  },
  partner_network_requests_under_way: {
    type: 'gauge',
    help: 'Requests that have no response yet.',
    labels: { state: '`answering`, `waiting` (for their turn)' },
  },
  partner_network_requests_shed_total: {
    type: 'counter',
    help: 'Requests that got a 503 because of overload.',
    labels: {
      reason:
        '`loop` (the process has no time), `requests` (too many requests at once), `partner` (the share of one partner is used up)',
    },
  },
  partner_network_connections: { type: 'gauge', help: 'Open connections of clients.' },
  partner_network_connections_limit: {
    type: 'gauge',
    help: 'Highest number of open connections of clients.',
  },
  partner_network_connections_closed_total: {
    type: 'counter',
    help: 'Connections of clients that the service closed because of a limit.',
    labels: {
      reason:
        '`silent` (no complete request yet), `idle`, `refused` (new, while all others wait for responses), `unread` (responses not read), `ahead` (too many requests sent before their responses)',
    },
  },
  partner_network_limiter_decisions_total: {
    type: 'counter',
    help: 'Decisions of the rate limit.',
    labels: {
      operation,
      source: '`redis`, `local` (by the process, because Redis did not answer), `memory` (no Redis is set)',
      outcome: '`admitted`, `refused`',
    },
    onlyWith: 'a rate limit above 0',
  },
  partner_network_limiter_fallbacks_total: {
    type: 'counter',
    help: 'Decisions of the rate limit that the process made because Redis did not answer in time.',
    labels: { operation },
    onlyWith: '`--redis`',
  },
  partner_network_limiter_instances: {
    type: 'gauge',
    help: 'Processes that share the rate limit: those that Redis heard from in the last 3 seconds, but at least --workers times --instances.',
    onlyWith: '`--redis`',
  },
  partner_network_receipts_waiting: {
    type: 'gauge',
    help: 'Receipts that are not written yet. Thousands mean that the database does not accept them.',
  },
  partner_network_receipts_written_total: { type: 'counter', help: 'Receipts that were written.' },
  partner_network_receipts_dropped_total: {
    type: 'counter',
    help: 'Receipts that were lost because too many waited. It must stay 0.',
  },
  partner_network_database_connections: {
    type: 'gauge',
    help: 'Connections to the primary, and requests that wait for one.',
    labels: { state: '`open` (all connections), `busy`, `waiting` (requests)' },
    onlyWith: 'Postgres',
  },
  partner_network_database_wait_seconds: {
    type: 'histogram',
    help: 'Time that requests waited for a connection to the primary while all were busy.',
    onlyWith: 'Postgres',
  },
  partner_network_database_wait_timeouts_total: {
    type: 'counter',
    help: 'Requests that got no connection to the primary in time, and were answered 503.',
    onlyWith: 'Postgres',
  },
  partner_network_replica_used: {
    type: 'gauge',
    help: '1 if brands may be read from the replica, 0 if it is left out. NaN while it is the primary.',
    labels: { replica },
    onlyWith: '`--replica`',
  },
  partner_network_replica_lag_seconds: {
    type: 'gauge',
    help: 'How far the replica is behind the primary. NaN if this is unknown.',
    labels: { replica },
    onlyWith: '`--replica`',
  },
  partner_network_replica_pages_total: {
    type: 'counter',
    help: 'Pages of brands that the replica served.',
    labels: { replica },
    onlyWith: '`--replica`',
  },
  partner_network_event_loop_delay_seconds: {
    type: 'histogram',
    help: 'Delay before the process starts work that is due, measured ten times a second.',
  },
  partner_network_build_info: {
    type: 'gauge',
    help: 'Always 1. Its labels say what runs.',
    labels: {
      version: 'version of the service',
      node: 'version of Node',
      environment: '`production`, `sandbox`',
      engine: '`sqlite`, `postgres`',
    },
  },
  process_resident_memory_bytes: { type: 'gauge', help: 'Memory of the process (RSS).' },
  process_cpu_seconds_total: { type: 'counter', help: 'CPU time of the process.' },
  process_start_time_seconds: {
    type: 'gauge',
    help: 'Time at which the process started, in seconds since 1970.',
  },
  partner_network_import_lag_seconds: {
    type: 'gauge',
    help: 'Time from the newest `updated_at` or `deleted_at` of the last lines to their commit, or to now while they wait.',
    labels: { kind },
    onlyWith: '`import … --follow --ops-port` and `admin`',
  },
  partner_network_last_commit_timestamp_seconds: {
    type: 'gauge',
    help: 'Time of the last commit with a line that was not rejected, in seconds since 1970. Absent before the first one.',
    labels: { kind, source: '`feed`, `batches`' },
    onlyWith: '`import … --follow --ops-port` and `admin`',
  },
  partner_network_batches_total: {
    type: 'counter',
    help: 'Batches. A refused batch has an error that concerns all of it, such as a 403 or 503.',
    labels: { kind, outcome: '`committed`, `rejected` (422), `tried` (dry run), `refused`' },
    onlyWith: '`admin`',
  },
  partner_network_batch_lines_total: {
    type: 'counter',
    help: 'Lines of committed batches, and the rejected lines of rejected batches.',
    labels: { kind, outcome: ofLine },
    onlyWith: '`admin`',
  },
  partner_network_import_lines_total: {
    type: 'counter',
    help: 'Lines of the feed.',
    labels: { kind, outcome: ofLine },
    onlyWith: '`import … --follow --ops-port`',
  },
} as const satisfies Readonly<Record<string, MetricDescription>>;

export type MetricName = keyof typeof metrics;

export const metricCatalogue: Readonly<Record<MetricName, MetricDescription>> = metrics;
