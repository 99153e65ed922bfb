import { OperatorError } from '@partner-network/common/errors';
import { toTime } from '@partner-network/common/times';
import { digestOfKey } from '@partner-network/service/auth/api-key';
import { AlreadyExists, type Author, type ImportKind, type Store } from '@partner-network/store/port';
import { importValues } from '../ingest/import.ts';
import { demoAdminKey, demoBalances, demoBrands, demoGrants, demoKeys, demoPartners } from './data.ts';

/**
 * Fills an empty sandbox with the demo data, which is checked like any import. Resolves to false if
 * the sandbox has other data, which is left alone.
 */
export async function fillWithDemo(store: Store, by: Author): Promise<boolean> {
  if (store.environment !== 'sandbox') {
    throw new OperatorError('Demo data is for a sandbox only, because its keys are public.');
  }
  const partners = new Set((await store.listPartners()).map(({ id }) => id));
  if (partners.size > 0 && !partners.has(demoPartners[0].id)) return false;
  // Grants are written last: if they are missing, an earlier start was interrupted.
  const isFilled =
    (await store.listGrants({ partnerId: demoPartners[0].id, at: toTime(Date.now()) })).length > 0;
  const created_at = '2025-01-06T09:00:00.000Z';
  const storedAs = (text: string) => ({ name: 'demo', last_four: text.slice(-4), created_at });
  // A sandbox that an older version has filled lacks this key.
  if ((await store.findAdminKeyById(demoAdminKey.id)) === undefined) {
    const { text, ...key } = demoAdminKey;
    await ignoreExisting(store.createAdminKey({ ...key, ...storedAs(text) }, digestOfKey(text), by));
  }
  if (isFilled) return true;

  for (const { id, name } of demoPartners)
    await ignoreExisting(store.createPartner({ id, name, created_at }, by));
  for (const { text, ...key } of demoKeys) {
    await ignoreExisting(store.createKey({ ...key, ...storedAs(text) }, digestOfKey(text), by));
  }
  for (const [index, partner] of demoPartners.entries()) {
    await fill(store, by, 'brands', demoBrands(partner, index + 1), partner.id);
  }
  await fill(store, by, 'balances', demoBalances());
  await fill(store, by, 'grants', demoGrants());
  return true;
}

/** Another start, earlier or at the same time, may have created it. */
async function ignoreExisting(creation: Promise<void>): Promise<void> {
  await creation.catch((error) => {
    if (!(error instanceof AlreadyExists)) throw error;
  });
}

async function fill(
  store: Store,
  by: Author,
  kind: ImportKind,
  records: object[],
  partnerId?: string,
): Promise<void> {
  const audit = { ...by, target: partnerId ?? kind, source: 'demo data', startedMs: Date.now() };
  const { rejected } = await importValues(store, kind, records, partnerId, audit);
  if (rejected.length > 0) throw new Error(`The demo ${kind} break a rule: ${JSON.stringify(rejected[0])}`);
}
