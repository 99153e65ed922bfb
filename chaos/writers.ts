/** Changes the data while it is read: imports, single rows, keys and grants. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { importValues } from '../packages/server/src/ingest/import.ts';
import type { Store } from '../packages/server/src/store/port.ts';
import { run } from '../packages/testkit/fixtures/run.ts';
import type { Chance } from '../packages/testkit/model/chance.ts';
import { active, type Entry, type History } from './history.ts';
import {
  allCustomers,
  balanceIndexes,
  balanceOf,
  brandOf,
  brandsWith,
  brandText,
  customersOf,
  ensureKey,
  grantOf,
  type IssuedKey,
  newKey,
  openWorld,
  type PartnerId,
  partners,
} from './world.ts';

const byChaos = { actor: 'chaos', action: 'chaos' };

interface Writing {
  readonly url: string;
  readonly history: History;
  readonly chance: Chance;
  isOver(): boolean;
}

/** Keys that are replaced during the run. The load also tries revoked keys. */
export interface ReplacedKeys {
  readonly current: Map<PartnerId, IssuedKey>;
  readonly revoked: IssuedKey[];
}

/** Pauses between the changes of each writer. */
const pauseMs = { brands: 200, balances: 250, feed: 4_000, grant: 3_000, key: 5_000 };

/** Writes until the run is over; resolves when all changes are confirmed. */
export async function keepWriting(writing: Writing, keys: ReplacedKeys): Promise<void> {
  const repeat = async (ms: number, work: (round: number) => Promise<void>) => {
    for (let round = 1; !writing.isOver(); round += 1) {
      await work(round);
      await wait(ms);
    }
  };
  await Promise.all([
    ...partners.flatMap((partnerId) => [
      repeat(pauseMs.brands, (round) => changeBrands(writing, partnerId, round)),
      repeat(pauseMs.feed, (round) => importBrands(writing, partnerId, round)),
      repeat(pauseMs.key, (round) => replaceKey(writing, keys, partnerId, round)),
      ...customersOf(partnerId, 'wavering').map((customerId) =>
        repeat(pauseMs.grant, (round) => toggleGrant(writing, partnerId, customerId, round)),
      ),
    ]),
    repeat(pauseMs.balances, (round) => changeBalances(writing, round)),
  ]);
  await Promise.all(idle.splice(0).map((store) => store.close()));
}

/** Open stores that are not in use, for reuse: opening a store takes longer than a few changes. */
const idle: Store[] = [];

async function inStore(url: string, work: (store: Store) => Promise<unknown>): Promise<void> {
  const store = idle.pop() ?? (await openWorld(url));
  try {
    await work(store);
    idle.push(store);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function importAll(
  url: string,
  kind: 'brands' | 'balances',
  records: readonly unknown[],
  partnerId?: PartnerId,
): Promise<void> {
  await inStore(url, async (store) => {
    const { rejected } = await importValues(store, kind, records, partnerId);
    if (rejected.length > 0) throw new Error(JSON.stringify(rejected));
  });
}

function brandEntry(partnerId: PartnerId, index: number, version: number): Entry {
  const { id } = brandOf(partnerId, index, version);
  return { table: 'brands', owner: partnerId, id, value: brandText(partnerId, index, version) };
}

/** Writes a new version of some brands, or deletes them. */
async function changeBrands(writing: Writing, partnerId: PartnerId, version: number): Promise<void> {
  const { url, history, chance } = writing;
  const indexes = [...new Set([1, 2, 3].map(() => chance.oneOf(brandsWith(partnerId, 'churned'))))];
  const entries = indexes.map((index) => brandEntry(partnerId, index, version));
  if (chance.fraction() < 0.4) {
    const deleted = entries.map((entry) => ({ ...entry, value: undefined }));
    const ids = entries.map(({ id }) => id);
    return history.change(deleted, () => deleteBrands(url, partnerId, ids));
  }
  const brands = indexes.map((index) => brandOf(partnerId, index, version));
  return history.change(entries, () => importAll(url, 'brands', brands, partnerId));
}

async function deleteBrands(url: string, partnerId: PartnerId, ids: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('delete from brands where partner_id = $1 and id = any($2)', [partnerId, ids]);
  } finally {
    await client.end();
  }
}

/** Runs the import command of operators, which is atomic. */
async function importBrands({ url, history }: Writing, partnerId: PartnerId, version: number): Promise<void> {
  const indexes = brandsWith(partnerId, 'fed');
  const entries = indexes.map((index) => brandEntry(partnerId, index, version));
  const input = indexes.map((index) => `${JSON.stringify(brandOf(partnerId, index, version))}\n`).join('');
  const words = ['import', 'brands', '-', '--partner', partnerId, '--database', url];
  await history.change(entries, async () => {
    const { status, stderr } = await run([...words, '--environment', 'sandbox', '--json'], { input });
    if (status !== 0) throw new Error(stderr);
  });
}

/** Changes some balances of one customer in one import. */
async function changeBalances({ url, history, chance }: Writing, version: number): Promise<void> {
  const owner = chance.oneOf(allCustomers);
  const indexes = balanceIndexes.filter(() => chance.fraction() < 0.2);
  const balances = indexes.map((index) => balanceOf(owner, index, version));
  const entries = balances.map(
    (balance): Entry => ({ table: 'balances', owner, id: balance.id, value: JSON.stringify(balance) }),
  );
  await history.change(entries, () => importAll(url, 'balances', balances));
}

/** Creates a grant in odd rounds and revokes it in even rounds. */
async function toggleGrant(
  { url, history }: Writing,
  partnerId: PartnerId,
  customerId: string,
  round: number,
): Promise<void> {
  const isGiven = round % 2 === 1;
  const id = `GRANT_${customerId}_${isGiven ? round : round - 1}`;
  const value = isGiven ? active : undefined;
  const give = async (store: Store) => {
    const found = await store.findGrants(id);
    if (found.length === 0) await store.createGrant(grantOf(partnerId, customerId, id), byChaos);
  };
  const revoke = (store: Store) => store.revokeGrant(customerId, id, new Date().toISOString(), byChaos);
  await history.change([{ table: 'grants', owner: partnerId, id: customerId, value }], () =>
    inStore(url, isGiven ? give : revoke),
  );
}

/** Creates a key, then revokes the previous key. */
async function replaceKey(
  { url, history }: Writing,
  { current, revoked }: ReplacedKeys,
  partnerId: PartnerId,
  round: number,
): Promise<void> {
  const key = newKey(partnerId, `KEY_${partnerId}_${round}`);
  const change = (id: string, value: string | undefined, work: (store: Store) => Promise<unknown>) =>
    history.change([{ table: 'keys', owner: partnerId, id, value }], () => inStore(url, work));
  await change(key.id, active, (store) => ensureKey(store, key));
  const former = current.get(partnerId);
  current.set(partnerId, key);
  if (former === undefined) return;
  revoked.push(former);
  await change(former.id, undefined, (store) =>
    store.revokeKey(former.id, new Date().toISOString(), byChaos),
  );
}
