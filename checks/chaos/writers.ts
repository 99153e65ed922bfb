/** Changes the data while it is read: imports, batches over HTTP, single rows, keys and grants. */
import { setTimeout as wait } from 'node:timers/promises';
import { adminBasePath } from '@partner-network/contract/admin/operations';
import { importValues } from '../../packages/operator/src/ingest/import.ts';
import type { Store } from '../../packages/store/src/port.ts';
import { adminKeys } from '../../packages/testkit/admin/started.ts';
import { run } from '../../packages/testkit/fixtures/run.ts';
import type { Chance } from '../../packages/testkit/model/chance.ts';
import { active, type Entry, type History } from './history.ts';
import {
  allCustomers,
  balanceIndexes,
  balanceOf,
  brandOf,
  brandsWith,
  brandText,
  byChaos,
  customersOf,
  deletionOf,
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
  /** The port of the administrative service. */
  readonly adminPort: number;
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
const pauseMs = {
  brands: 200,
  balances: 250,
  feed: 4_000,
  grant: 3_000,
  key: 5_000,
  cursorKey: 10_000,
};
const chanceOfDeletion = 0.4;

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
    repeat(pauseMs.cursorKey, () =>
      inStore(writing.url, (store) => store.rotateCursorKey('keep', byChaos)).catch(() => {}),
    ),
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

/** Sends a batch. It counts only once it is acknowledged, and is sent again otherwise. */
async function sendBatch(port: number, records: readonly object[]): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${adminBasePath}/balances/batches`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKeys.INGEST}`, 'content-type': 'application/json' },
    body: JSON.stringify(records),
    // A frozen service does not answer.
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
}

function brandEntry(partnerId: PartnerId, index: number, version: number): Entry {
  const { id } = brandOf(partnerId, index, version);
  return { table: 'brands', owner: partnerId, id, value: brandText(partnerId, index, version) };
}

/** Writes a new version of some brands, or deletes them. */
async function changeBrands(writing: Writing, partnerId: PartnerId, version: number): Promise<void> {
  const { url, history, chance } = writing;
  const indexes = [...new Set([1, 2, 3].map(() => chance.oneOf(brandsWith(partnerId, 'churned'))))];
  const isDeletion = chance.fraction() < chanceOfDeletion;
  const entries = indexes.map((index) => ({
    ...brandEntry(partnerId, index, version),
    ...(isDeletion && { value: undefined }),
  }));
  const lines = indexes.map((index) => {
    const brand = brandOf(partnerId, index, version);
    return isDeletion ? deletionOf({ id: brand.id }, version) : brand;
  });
  await history.change(entries, () =>
    inStore(url, async (store) => {
      const { rejected } = await importValues(store, 'brands', lines, partnerId);
      if (rejected.length > 0) throw new Error(JSON.stringify(rejected));
    }),
  );
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

/** Changes and deletes some balances of one customer in one batch. */
async function changeBalances(writing: Writing, version: number): Promise<void> {
  const { adminPort, history, chance } = writing;
  const owner = chance.oneOf(allCustomers);
  const chosen = balanceIndexes.filter(() => chance.fraction() < 0.2);
  const changes = chosen.map((index) => {
    const { id, customer_id, ...rest } = balanceOf(owner, index, version);
    const isDeletion = chance.fraction() < chanceOfDeletion;
    const line = isDeletion ? deletionOf({ id, customer_id }, version) : { id, customer_id, ...rest };
    const value = isDeletion ? undefined : JSON.stringify(line);
    return { line, entry: { table: 'balances', owner, id, value } satisfies Entry };
  });
  const entries = changes.map(({ entry }) => entry);
  const lines = changes.map(({ line }) => line);
  await history.change(entries, () => sendBatch(adminPort, lines));
}

/** Creates a grant in odd rounds and revokes it in even rounds, by command or by a line of an import. */
async function toggleGrant(
  { url, history, chance }: Writing,
  partnerId: PartnerId,
  customerId: string,
  round: number,
): Promise<void> {
  const isGiven = round % 2 === 1;
  const id = `GRANT_${customerId}_${isGiven ? round : round - 1}`;
  const value = isGiven ? active : undefined;
  const line = grantOf(partnerId, customerId, id);
  const give = async (store: Store) => {
    const found = await store.findGrants(id);
    if (found.length === 0) await store.createGrant(line, byChaos);
  };
  const isByCommand = chance.fraction() < 0.5;
  const revoke = (store: Store) =>
    isByCommand
      ? store.revokeGrant(customerId, id, new Date().toISOString(), byChaos)
      : importValues(store, 'grants', [{ ...line, status: 'REVOKED' }]);
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
