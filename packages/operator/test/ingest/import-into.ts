/** Imports into a new database, and reads the result. */
import { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { publicAddressMark, type Store } from '../../../store/src/port.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { openTestDatabase } from '../../../testkit/service/database.ts';
import {
  type ImportOptions,
  type ImportReport,
  importRecords,
  type Source,
} from '../../src/ingest/import.ts';
import { readJsonLines } from '../../src/ingest/json.ts';

export async function openEmpty(t: TestContext): Promise<Store> {
  const { store } = await openTestDatabase(t, 'partners', async (store) => {
    for (const id of ['acme', 'zenith'])
      await store.createPartner({ id, name: id, created_at: createdAt }, byTest);
  });
  return store;
}

type Choices = Partial<ImportOptions>;

/** Writes records as lines of JSON; a text is a line already. */
export function linesOf(records: readonly unknown[]): Buffer {
  return Buffer.from(records.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n'));
}

/** Imports brands of acme, unless the choices say otherwise. */
export function importFrom(store: Store, source: Source, choices: Choices = {}) {
  const usual = { kind: 'brands', partnerId: 'acme', mode: 'keep', skipsRejected: false } as const;
  return importRecords(store, source, { ...usual, pace: 'fast', ...choices });
}

export function importBytes(store: Store, bytes: Uint8Array, choices?: Choices): Promise<ImportReport> {
  return importFrom(store, () => readJsonLines(Readable.from([bytes])), choices);
}

export function importInto(
  store: Store,
  records: readonly unknown[],
  choices?: Choices,
): Promise<ImportReport> {
  return importBytes(store, linesOf(records), choices);
}

/** The report of an import that rejects nothing, with these counts. */
export function reportOf(counts: Partial<ImportReport>): ImportReport {
  const none = { read: 0, written: 0, unchanged: 0, stale: 0, deleted: 0, rejected_count: 0, rejected: [] };
  return { ...none, ...counts };
}

/** The number, fields and codes of each rejected line. */
export function faultsOf({ rejected }: ImportReport): unknown[] {
  return rejected.map(({ line, errors }) => [line, ...errors.map(({ field, code }) => [field, code])]);
}

export async function brandsOf(store: Store, partnerId = 'acme'): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await store.listBrands({ partnerId, referenceId: undefined, after, limit: 100 });
    records.push(...JSON.parse(`[${page.records.replaceAll(publicAddressMark, '')}]`));
    after = page.next;
  }
  return records;
}

export async function balancesOf(store: Store, customerId: string): Promise<Record<string, unknown>[]> {
  const grant = { id: `see-${customerId}`, partner_id: 'acme', customer_id: customerId };
  await importInto(store, [grant], { kind: 'grants' });
  const query = { partnerId: 'acme', type: 'CHECKING', grantId: undefined, at: createdAt, after: '' };
  const answer = await store.listBalances({ ...query, limit: 100, customerId });
  return 'page' in answer ? JSON.parse(`[${answer.page.records}]`) : [];
}

export function brand(id: number, more: object = {}): object {
  return { id: String(id).padStart(5, '0'), name: 'Name', reference_id: 'ref', ...more };
}
