/** The arithmetic of docs/how-to/operators/capacity.md: from measured CPU times to cores and servers. */
import { readFileSync } from 'node:fs';
import { authBounds, receiptsBounds } from '../../../packages/common/src/bounds/service.ts';
import { postgresBounds } from '../../../packages/common/src/bounds/store.ts';
import { markdown } from '../lib/report.ts';

/** What is measured, under the names that the page shows. */
const meanings = {
  page: 'service: a page of 50 brands, key cached',
  replicaPage: 'replica: that page',
  primaryPage: 'primary: that page, read from the replica',
  ownLookup: 'service: looking up a key',
  lookup: 'primary: looking up a key',
  usageRow: 'primary: a row of usage',
  decision: 'Redis: a decision of the rate limit',
  balance: 'service: one balance',
  primaryBalance: 'primary: one balance with its receipt',
};

/** CPU microseconds that `npm run bench -- capacity` measures. */
export type Inputs = Readonly<Record<keyof typeof meanings, number>>;

const { connections: poolSize, lookMs, replicaWatchMs } = postgresBounds;
/** The measurement whose tables the page shows. */
export const inputsFile = new URL('./inputs.json', import.meta.url);

/** What the page plans with: cores half busy, 8 workers in an instance, servers with 32 cores. */
const halfBusy = 2;
const workers = 8;
const serverCores = 32;
/** Instances that a network has at least, so that one can be restarted. */
const fewestInstances = 2;
const defaultMaxConnections = 100;
const keyUseSeconds = 60;

/** The share of a partner's requests to a process that are its first in a span, if they come at random. */
function firstShare(perSecond: number, spanSeconds: number): number {
  const inSpan = perSecond * spanSeconds;
  return (1 - Math.exp(-inSpan)) / inSpan;
}

const cores = (perSecond: number, microseconds: number) => (halfBusy * perSecond * microseconds) / 1_000_000;

/** `perSecond` are the requests of each partner to list brands. */
function planOf(inputs: Inputs, partners: number, perSecond: number) {
  const requests = partners * perSecond;
  let instances = fewestInstances;
  let lookups = requests;
  let service = 0;
  // More processes look up more keys, and so need more processes. The share is at most 1: this ends.
  for (let before = 0; before !== instances; ) {
    before = instances;
    lookups = requests * firstShare(perSecond / (instances * workers), authBounds.keyCacheMs / 1_000);
    service = cores(requests, inputs.page) + cores(lookups, inputs.ownLookup);
    instances = Math.max(before, Math.ceil(service / workers));
  }
  const processes = instances * workers;
  const spans = [receiptsBounds.usageWriteMs / 1_000, keyUseSeconds];
  const rows = spans.reduce((sum, span) => sum + requests * firstShare(perSecond / processes, span), 0);
  const looks = processes * (1_000 / lookMs);
  const ofPages = cores(requests, inputs.replicaPage);
  const ofRest = cores(lookups + looks, inputs.lookup) + cores(rows, inputs.usageRow);
  const replicas = ofPages + ofRest > serverCores ? Math.ceil(ofPages / serverCores) : 0;
  const watches = processes * replicas * (1_000 / replicaWatchMs);
  const primary = ofRest + (replicas > 0 ? cores(watches, inputs.lookup) : ofPages);
  const ofProcess = poolSize + (replicas > 0 ? 3 : 2);
  const connections = instances * (workers * ofProcess + 3);
  return {
    requests,
    service,
    instances,
    processes,
    lookups,
    rows,
    replicas,
    primary,
    connections,
    redis: Math.ceil(cores(requests, inputs.decision)),
    breaks: breaksFirst(primary, replicas, connections),
  };
}

/** In the order of how hard the limit is: no setting moves the first one. */
function breaksFirst(primary: number, replicas: number, connections: number): string {
  if (primary > serverCores) return 'the primary';
  if (replicas > postgresBounds.mostReplicas) return 'replicas';
  return connections > defaultMaxConnections ? 'connections' : 'nothing';
}

export function inputsTable(inputs: Inputs): string {
  const rows = Object.entries(meanings).map(([name, about]) => [about, String(inputs[name as keyof Inputs])]);
  return markdown([['CPU time of', 'µs'], ...rows]);
}

const heading = [
  'partners × rate',
  'requests/s',
  'service cores',
  'instances',
  'primary cores',
  'replicas',
  'connections',
  'Redis nodes',
  'breaks first',
];

export function planTable(inputs: Inputs): string {
  const whole = (value: number) => Math.ceil(value).toLocaleString('en');
  const rows = [50, 0.5].flatMap((perSecond) =>
    [100, 5_000, 50_000].map((partners) => {
      const plan = planOf(inputs, partners, perSecond);
      const { requests, service, instances, primary, replicas, connections, redis, breaks } = plan;
      const figures = [requests, service, instances, primary, replicas, connections, redis];
      return [`${whole(partners)} × ${perSecond}`, ...figures.map(whole), breaks];
    }),
  );
  return markdown([heading, ...rows]);
}

const page = new URL('../../../docs/how-to/operators/capacity.md', import.meta.url);

/** The page: the tables between its marks follow from a recorded measurement. */
export function capacityPage(): string {
  const { inputs } = JSON.parse(readFileSync(inputsFile, 'utf8'));
  const tables = { plan: planTable(inputs), inputs: inputsTable(inputs) };
  return readFileSync(page, 'utf8').replaceAll(
    /<!-- (plan|inputs) -->\n.*?<!-- end -->/gs,
    (_, name: keyof typeof tables) => `<!-- ${name} -->\n\n${tables[name]}\n\n<!-- end -->`,
  );
}
