/** The pages that the size bench reads, the same from each database. */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { parseDatabaseUrl } from '../../../packages/store/src/address.ts';
import { openStore } from '../../../packages/store/src/engines.ts';
import type { BalancesQuery, BrandsQuery, Page, Reads } from '../../../packages/store/src/port.ts';
import type { Pool } from '../../../packages/store/src/postgres/connections/pool.ts';
import { planSettings } from '../../../packages/store/src/postgres/connections/session.ts';
import { createReads } from '../../../packages/store/src/postgres/reads.ts';
import { onConnection } from '../../../packages/testkit/servers/postgres-start.ts';
import {
  chainReference,
  ofPartner,
  type Subject,
  storeReference,
  subjectsIn,
  whenGrantsAreGood,
} from './data.ts';

const pageRecords = 50;

type Listings = Pick<Reads, 'listBrands' | 'listBalances'>;
/** Reads the page after this id. */
type Listing = (reads: Listings, after: string) => Promise<Page>;

/** A row of the table: the same page of every subject. */
export interface PageKind {
  readonly listing: string;
  readonly position: 'first' | 'middle' | 'last' | 'only';
  readonly queries: readonly ((reads: Listings) => Promise<Page>)[];
}

export type SizedDatabase = Awaited<ReturnType<typeof openSized>>;

/** The listings, and their number of records for each subject. */
const listings: readonly [name: string, records: number, of: (subject: Subject) => Listing][] = [
  ['brands', ofPartner.brands, ({ partner }) => brandsOf(partner)],
  ['brands by reference', ofPartner.brandsOfChain, ({ partner }) => brandsOf(partner, chainReference)],
  ['one brand by reference', 1, ({ partner }) => brandsOf(partner, storeReference)],
  [
    'balances',
    ofPartner.balancesOfLargeCustomer,
    ({ partner, largeCustomer }) => balancesOf(partner, largeCustomer),
  ],
  ['10 balances', 10, ({ partner, customer }) => balancesOf(partner, customer)],
];

/** Opens the service's store with one connection, and finds where its pages begin. */
export async function openSized(
  url: string,
  partnerCount: number,
  subjectCount: number,
  isOurServer: boolean,
) {
  const options = { replicas: [], connections: 1, keepsSession: true };
  const store = await openStore(parseDatabaseUrl(url)!, 'production', 'serve', options);
  const subjects = await subjectsIn(url, partnerCount, subjectCount);
  const kinds: PageKind[] = [];
  for (const [name, records, of] of listings) {
    kinds.push(...(await kindsOf(name, records, store, subjects.map(of))));
  }
  /** CPU microseconds of the server process behind `reads`; undefined on a server that is not ours. */
  const cpuTimeUs = isOurServer && process.platform === 'linux' ? await cpuClockOf(url) : undefined;
  const explainer = new pg.Client({ connectionString: url, options: planSettings });
  await explainer.connect();
  return {
    reads: store as Listings,
    kinds,
    /** The mean number of table and index blocks that the server touches for a page. */
    countBlocks: (kind: PageKind) => countBlocks(explainer, kind),
    cpuTimeUs,
    close: async () => {
      await explainer.end();
      await store.close();
    },
  };
}

function brandsOf(partnerId: string, referenceId?: string): Listing {
  const query: Omit<BrandsQuery, 'after'> = { partnerId, referenceId, limit: pageRecords };
  return (reads, after) => reads.listBrands({ ...query, after });
}

function balancesOf(partnerId: string, customerId: string): Listing {
  const query: Omit<BalancesQuery, 'after'> = {
    partnerId,
    customerId,
    type: 'CHECKING',
    grantId: undefined,
    at: whenGrantsAreGood,
    limit: pageRecords,
  };
  return async (reads, after) => {
    const answer = await reads.listBalances({ ...query, after });
    if (answer.grant !== 'ACTIVE') throw new Error(`The grant of ${customerId} is ${answer.grant}.`);
    return answer.page;
  };
}

async function kindsOf(
  listing: string,
  records: number,
  store: Listings,
  of: readonly Listing[],
): Promise<PageKind[]> {
  const walks: { list: Listing; starts: string[] }[] = [];
  for (const list of of) walks.push({ list, starts: await walk(list, store, records) });
  const kind = (position: PageKind['position'], pickStart: (starts: string[]) => string): PageKind => ({
    listing,
    position,
    queries: walks.map(({ list, starts }) => {
      const after = pickStart(starts);
      return (reads) => list(reads, after);
    }),
  });
  if (records <= pageRecords) return [kind('only', () => '')];
  return [
    kind('first', () => ''),
    kind('middle', (starts) => starts[Math.floor(starts.length / 2)]!),
    kind('last', (starts) => starts.at(-1)!),
  ];
}

/** The start of each page. Fails if the walk does not find all records. */
async function walk(list: Listing, store: Listings, records: number): Promise<string[]> {
  const starts: string[] = [];
  let found = 0;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await list(store, after);
    starts.push(after);
    found += page.records.split('{"id":').length - 1;
    after = page.next;
  }
  if (found !== records) throw new Error(`A walk found ${found} records instead of ${records}.`);
  return starts;
}

/** Runs the service's reads on a pool that also explains each statement. */
async function countBlocks(client: pg.Client, { queries }: PageKind): Promise<number> {
  let blocks = 0;
  const query: Pool['query'] = async ({ name, text }, values) => {
    const { rows: known } = await client.query('select from pg_prepared_statements where name = $1', [name]);
    if (known.length === 0) await client.query(`prepare ${name} as ${text}`);
    const literals = values.map((value) => client.escapeLiteral(String(value))).join(', ');
    const explain = `explain (analyze, buffers, format json) execute ${name} (${literals})`;
    const { Plan } = (await client.query(explain)).rows[0]['QUERY PLAN'][0];
    blocks += Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
    return (await client.query(text, [...values])).rows;
  };
  const reads = createReads({ query } as Pool, undefined);
  for (const read of queries) await read(reads);
  return blocks / queries.length;
}

/** Reads the CPU time of the connection that served the pages; the kernel counts it in nanoseconds. */
async function cpuClockOf(url: string): Promise<() => number> {
  const answering = `
    select pid from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query like '%string_agg(record%'`;
  const { rows } = await onConnection(url, (client) => client.query(answering));
  if (rows.length !== 1)
    throw new Error(`${rows.length} connections have answered with pages instead of one.`);
  return () => Number(readFileSync(`/proc/${rows[0].pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000;
}
