/** Arbitrary and plain records for the suite, as the API sends them and as the store takes them. */
import type { Environment } from '@partner-network/contract/environments';
import type { Balance, Brand } from '@partner-network/contract/records';
import fc from 'fast-check';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import type {
  Grant,
  ImportBegin,
  ImportCounts,
  ImportKind,
  ImportResult,
  ImportRow,
  ImportWrite,
  Store,
} from '../../src/port.ts';

/** Tests by name. They use only the port, so they run on every engine. */
export type StoreTests = Readonly<Record<string, (open: OpenHandle) => Promise<void>>>;
type OpenHandle = (environment?: Environment) => Promise<Store>;

export const times = { created_at: createdAt, updated_at: createdAt };

/** Characters that break JSON rendering or sorting: quotes, separators, marks, neighbors of surrogates. */
const awkward = [
  ...'"\\/\'<%_{},\u0080\u00a0\u2028\u2029\ufeff\ufffd\u0301é語🦊\ud7ff\ue000\uffff\u{10000}\u{10ffff}',
  ...['👩‍👧', '\\u0001', '\\n'],
];

const anyCharacter = fc.integer({ min: 0x20, max: 0x10ffff }).map((code) => {
  const isRefused = code === 0x7f || (code >= 0xd800 && code <= 0xdfff);
  return isRefused ? 'x' : String.fromCodePoint(code);
});

export function texts(minLength: number, maxLength = 12): fc.Arbitrary<string> {
  return fc.string({ unit: fc.oneof(fc.constantFrom(...awkward), anyCharacter), minLength, maxLength });
}

export const time = fc.oneof(
  fc.constantFrom('0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z', '2024-02-29T23:59:59.999Z'),
  fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
    .map((date) => date.toISOString()),
);

/** A time that an import accepts as the time of a record. */
export const pastTime = fc.oneof(
  fc.constantFrom('0001-01-01T00:00:00.000Z', '2024-02-29T23:59:59.999Z'),
  fc
    .date({ min: new Date('0001-01-01'), max: new Date(createdAt), noInvalidDate: true })
    .map((date) => date.toISOString()),
);

/** Swaps the times of a record that was updated before it was created. */
export function inOrder<R extends { created_at?: string; updated_at?: string }>(record: R): R {
  const [created_at, updated_at] = [record.created_at!, record.updated_at!].toSorted();
  return { ...record, created_at, updated_at };
}

const url = texts(0).map((path) => `https://x.example/${path.replace(/\s/g, '')}`);
/** JavaScript puts keys that look like integers first. */
const metadataKey = fc.oneof(texts(0, 5), fc.constantFrom('0', '10', '9', '01', '-1', '4294967295'));
const metadata = fc.oneof(
  fc.dictionary(metadataKey, texts(0, 5), { maxKeys: 4, noNullPrototype: true }),
  fc.dictionary(metadataKey, texts(0, 5), { minKeys: 50, maxKeys: 50, noNullPrototype: true }),
);
const color = fc.stringMatching(/^#[0-9A-Fa-f]{6}$/);

function withoutUndefined<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T;
}

/** Metadata is stored with sorted keys. */
function sorted(map: Record<string, string> | undefined): Record<string, string> | undefined {
  return map && Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export const brands: fc.Arbitrary<Brand> = fc
  .record({
    id: texts(1),
    name: texts(1),
    created_at: pastTime,
    updated_at: pastTime,
    reference_id: texts(1),
    color: fc.option(color, { nil: undefined }),
    profile_image_url: fc.option(url, { nil: undefined }),
    metadata: fc.option(metadata.map(sorted), { nil: undefined }),
  })
  .map((brand) => inOrder(withoutUndefined(brand) as Brand));

const amounts = fc.oneof(
  fc.constantFrom(0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
  fc.maxSafeInteger().map((amount) => amount + 0),
);

export const balances: fc.Arbitrary<Required<Balance>> = fc
  .record({
    id: texts(1),
    customer_id: texts(1),
    type: fc.constant('CHECKING' as const),
    currency: fc.constant('USD' as const),
    amount: amounts,
    created_at: pastTime,
    updated_at: pastTime,
  })
  .map(inOrder);

export function brandRow(partner_id: string, { metadata, ...brand }: Brand): ImportRow {
  return { ...brand, partner_id, ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }) };
}

export function plainBrand(id: string, more: Partial<Brand> = {}): Brand {
  return { id, name: 'Name', ...times, reference_id: 'ref', ...more };
}

export function plainBalance(customer_id: string, id: string, amount = 1): ImportRow {
  return { id, customer_id, type: 'CHECKING', currency: 'USD', amount, ...times };
}

export function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** Writes plain brands of acme. */
export function writeBrands(store: Store, ids: readonly string[], more: Partial<Brand> = {}) {
  const rows = ids.map((id) => brandRow('acme', plainBrand(id, more)));
  return writeRows(store, 'brands', rows);
}

/** Opens the test's database and creates partners. */
export async function openWith(open: OpenHandle, ...partnerIds: string[]): Promise<Store> {
  const store = await open();
  await createPartners(store, ...partnerIds);
  return store;
}

export async function createPartners(store: Store, ...ids: string[]): Promise<void> {
  for (const id of ids) await store.createPartner({ id, name: `The ${id}`, created_at: createdAt }, byTest);
}

/** The result of an import with these counts and no others. */
export function counted(counts: Partial<ImportCounts>): ImportResult {
  return { written: 0, unchanged: 0, stale: 0, deleted: 0, ...counts, rejected: [] };
}

/** Writes rows in one import. */
export async function writeRows(
  store: Store,
  kind: ImportKind,
  rows: readonly ImportRow[],
  options?: ImportBegin,
) {
  return writeBatches(store, kind, [rows], options);
}

/** Writes batches of rows in one import. */
export async function writeBatches(
  store: Store,
  kind: ImportKind,
  batches: readonly (readonly ImportRow[])[],
  options: ImportBegin = {},
  write: ImportWrite = { mode: 'keep' },
): Promise<ImportResult> {
  const run = await store.beginImport(kind, options);
  try {
    for (const rows of batches) await run.stage(rows);
    return await run.write(write);
  } finally {
    await run.end();
  }
}

export const grant: Grant = {
  id: 'g',
  partner_id: 'acme',
  customer_id: 'alice',
  action: 'CHECKING_BALANCE',
  status: 'ACTIVE',
  ...times,
};

/** A receipt of a page of balances. */
export const plainReceipt = {
  at: '2026-01-01T00:00:00.000Z',
  request_id: 'r1',
  operation: 'listBalances',
  partner_id: 'acme',
  key_id: 'KEY_0',
  outcome: 'GRANTED',
} as const;
