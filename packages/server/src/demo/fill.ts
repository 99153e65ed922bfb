import { digestOfKey } from '../api-key.ts';
import { importRecords, type Reading } from '../ingest/import.ts';
import { OperatorError } from '../operator-error.ts';
import type { ImportKind, Store } from '../store/port.ts';
import { demoBalances, demoBrands, demoGrants, demoKeys, demoPartners } from './data.ts';

/** Fills an empty sandbox with the demo data, through the same checks as any import. */
export async function fillWithDemo(store: Store): Promise<void> {
  if (store.environment !== 'sandbox') {
    throw new OperatorError('Demo data and its public keys belong in a sandbox only.');
  }
  if ((await store.listPartners()).length > 0) return;

  const created_at = '2025-01-06T09:00:00.000Z';
  for (const { id, name } of demoPartners) await store.createPartner({ id, name, created_at });
  for (const { text, ...key } of demoKeys) {
    await store.createKey({ ...key, name: 'demo', last_four: text.slice(-4), created_at }, digestOfKey(text));
  }
  for (const [index, partner] of demoPartners.entries()) {
    await fill(store, 'brands', demoBrands(partner, index + 1), partner.id);
  }
  await fill(store, 'balances', demoBalances());
  await fill(store, 'grants', demoGrants());
}

async function fill(store: Store, kind: ImportKind, records: object[], partnerId = ''): Promise<void> {
  async function* readings(): AsyncGenerator<Reading> {
    for (const [index, value] of records.entries()) yield { line: index + 1, value };
  }
  const { rejected } = await importRecords(store, readings(), {
    kind,
    partnerId,
    skipInvalid: false,
    dryRun: false,
  });
  if (rejected.length > 0) throw new Error(`The demo ${kind} break a rule: ${JSON.stringify(rejected[0])}`);
}
