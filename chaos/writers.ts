/** Those who change the data while it is read: imports, single rows, and whom keys and grants let in. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { importValues } from '../packages/server/src/ingest/import.ts';
import type { Store } from '../packages/server/src/store/port.ts';
import { run } from '../packages/testkit/fixtures/run.ts';
import type { Chance } from './chance.ts';
import { active, type History } from './history.ts';
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

interface Writing {
  readonly url: string;
  readonly history: History;
  readonly chance: Chance;
  isOver(): boolean;
}

/** Keys that come and go: those that were revoked lately are tried, too. */
export interface PassingKeys {
  readonly current: Map<PartnerId, IssuedKey>;
  readonly revoked: IssuedKey[];
}

const restMs = { brands: 200, balances: 250, feed: 4_000, grant: 3_000, key: 5_000 };

/** Until the run is over, each at its own pace; resolves when all that was begun is sure. */
export async function writeOn(writing: Writing, keys: PassingKeys): Promise<void> {
  const { isOver } = writing;
  const repeat = async (pauseMs: number, work: (round: number) => Promise<void>) => {
    for (let round = 1; !isOver(); round += 1) {
      await work(round);
      await wait(pauseMs);
    }
  };
  await Promise.all([
    ...partners.flatMap((partnerId) => [
      repeat(restMs.brands, (round) => churn(writing, partnerId, round)),
      repeat(restMs.feed, (round) => feed(writing, partnerId, round)),
      repeat(restMs.key, (round) => passKey(writing, keys, partnerId, round)),
      ...customersOf(partnerId, 'wavering').map((customerId) =>
        repeat(restMs.grant, (round) => waver(writing, partnerId, customerId, round)),
      ),
    ]),
    repeat(restMs.balances, (round) => changeBalances(writing, round)),
  ]);
  await Promise.all(idle.splice(0).map((store) => store.close()));
}

/** Stores that nobody uses at the moment: to open one takes more than the few changes in it. */
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

/** A few brands get a new version, or are gone until they get one. */
async function churn(writing: Writing, partnerId: PartnerId, version: number): Promise<void> {
  const { url, history, chance } = writing;
  const indexes = [...new Set([1, 2, 3].map(() => chance.oneOf(brandsWith(partnerId, 'churned'))))];
  const isDeletion = chance.fraction() < 0.4;
  const entries = indexes.map((index) => {
    const text = brandText(partnerId, index, version);
    return {
      table: 'brands' as const,
      owner: partnerId,
      id: JSON.parse(text).id as string,
      value: isDeletion ? undefined : text,
    };
  });
  const brands = indexes.map((index) => brandOf(partnerId, index, version));
  const write = () => importAll(url, 'brands', brands, partnerId);
  const remove = () =>
    deleteBrands(
      url,
      partnerId,
      entries.map(({ id }) => id),
    );
  await history.change(entries, isDeletion ? remove : write);
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

/** An operator's import, all or nothing, in a process of its own. */
async function feed({ url, history }: Writing, partnerId: PartnerId, version: number): Promise<void> {
  const indexes = brandsWith(partnerId, 'fed');
  const entries = indexes.map((index) => {
    const value = brandText(partnerId, index, version);
    return { table: 'brands' as const, owner: partnerId, id: JSON.parse(value).id as string, value };
  });
  const input = indexes.map((index) => `${JSON.stringify(brandOf(partnerId, index, version))}\n`).join('');
  const words = ['import', 'brands', '-', '--partner', partnerId, '--database', url];
  await history.change(entries, async () => {
    const { status, stderr } = await run([...words, '--environment', 'sandbox', '--json'], { input });
    if (status !== 0) throw new Error(stderr);
  });
}

/** Some balances of one customer, together. */
async function changeBalances({ url, history, chance }: Writing, version: number): Promise<void> {
  const owner = chance.oneOf(allCustomers);
  const indexes = balanceIndexes.filter(() => chance.fraction() < 0.2);
  const balances = indexes.map((index) => balanceOf(owner, index, version));
  const entries = balances.map((balance) => ({
    table: 'balances' as const,
    owner,
    id: balance.id,
    value: JSON.stringify(balance),
  }));
  await history.change(entries, () => importAll(url, 'balances', balances));
}

/** A grant that is given in one round and revoked in the next. */
async function waver(
  { url, history }: Writing,
  partnerId: PartnerId,
  customerId: string,
  round: number,
): Promise<void> {
  const isGiven = round % 2 === 1;
  const id = `GRANT_${customerId}_${isGiven ? round : round - 1}`;
  const entry = {
    table: 'grants',
    owner: partnerId,
    id: customerId,
    value: isGiven ? active : undefined,
  } as const;
  const give = async (store: Store) => {
    const found = await store.findGrants(id);
    if (found.length === 0) await store.createGrant(grantOf(partnerId, customerId, id));
  };
  const revoke = (store: Store) => store.revokeGrant(customerId, id, new Date().toISOString());
  await history.change([entry], () => inStore(url, isGiven ? give : revoke));
}

/** A new key takes the place of the one before, which is revoked. */
async function passKey(
  { url, history }: Writing,
  { current, revoked }: PassingKeys,
  partnerId: PartnerId,
  round: number,
): Promise<void> {
  const key = newKey(partnerId, `KEY_${partnerId}_${round}`);
  const entry = { table: 'keys', owner: partnerId } as const;
  await history.change([{ ...entry, id: key.id, value: active }], () =>
    inStore(url, (store) => ensureKey(store, key)),
  );
  const former = current.get(partnerId);
  current.set(partnerId, key);
  if (former === undefined) return;
  revoked.push(former);
  await history.change([{ ...entry, id: former.id, value: undefined }], () =>
    inStore(url, (store) => store.revokeKey(former.id, new Date().toISOString())),
  );
}
