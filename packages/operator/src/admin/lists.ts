/** The lists of the administrative API, page by page. */
import { isRequestId } from '@partner-network/common/ids';
import { toTime } from '@partner-network/common/times';
import { refusal } from '@partner-network/http/refusal';
import type { SealedBox } from '@partner-network/service/cursors';
import { isOutcome, someOutcome } from '@partner-network/service/receipts';
import type {
  ApiKey,
  Grant,
  GrantStatus,
  NumberedEntry,
  Partner,
  Receipt,
  Store,
  UsageCount,
  UsagePosition,
} from '@partner-network/store/port';
import { listNamedAudit, type NamedEntry } from '../operations/audit.ts';
import { grantStatus, type ListedGrant, listGrants } from '../operations/grants.ts';
import { keyStatus } from '../operations/keys.ts';
import type { Fields } from './request.ts';

/** A page with the cursor of the next one. */
interface Page<R extends object> {
  readonly records: readonly R[];
  readonly cursor?: string;
}

/** Where a page begins, and how many records are read. */
interface Part<Position> {
  readonly after: Position | undefined;
  readonly limit: number;
}

/** Returns a function that reads a page. Its cursor is bound to the operation and to all filters. */
export function createReadPage(
  { seal, open }: SealedBox,
  operation: string,
  { cursor, limit, ...values }: Fields,
) {
  const filters = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [name, String(value)],
  );
  // The empty text stands where cursors of partners have their partner.
  const sealedFor = [operation, '', ...filters] as const;
  const positionIn = (sealed: string) => {
    const position = open(sealedFor, sealed);
    if (position === undefined) throw refusal('INVALID_CURSOR', {}, 'cursor');
    return JSON.parse(position);
  };

  return async <R extends object, Position>(
    read: (part: Part<Position>) => Promise<readonly R[]>,
    positionOf: (record: R) => Position,
  ): Promise<Page<R>> => {
    const after = cursor === undefined ? undefined : positionIn(String(cursor));
    // One more than the page has, to know whether another page follows.
    const found = await read({ after, limit: Number(limit) + 1 });
    const records = found.slice(0, Number(limit));
    if (found.length === records.length) return { records };
    return { records, cursor: seal(sealedFor, JSON.stringify(positionOf(records.at(-1)!))) };
  };
}

/** What a list is made from. */
export interface ListCall {
  readonly store: Store;
  readonly query: Fields;
  readonly readPage: ReturnType<typeof createReadPage>;
}

export type List<R extends object> = (call: ListCall) => Promise<Page<R>>;

/** The filters of a list, which are texts. Only `action` may be a list of texts. */
const textsOf = (query: Fields) => query as Readonly<Record<string, string | undefined>>;

export const listPartnersPage: List<Partner> = ({ store, readPage }) =>
  readPage(store.listPartners, ({ id }) => ({ id }));

/** A key as the API shows it. */
export type ShownKey = ApiKey & { readonly status: string; readonly last_used_at?: string | undefined };

export async function shownKeys(store: Store, keys: readonly ApiKey[]): Promise<ShownKey[]> {
  const uses = await store.lastUses(keys.map(({ id }) => id));
  return keys.map((key) => {
    const { id, partner_id, name, scopes, last_four, created_at, created_by, expires_at, revoked_at } = key;
    const head = { id, partner_id, name, scopes, status: keyStatus(key), last_four };
    return { ...head, created_at, created_by, expires_at, revoked_at, last_used_at: uses.get(id) };
  });
}

export const listKeysPage: List<ShownKey> = async ({ store, query, readPage }) => {
  const { partner_id } = textsOf(query);
  const read = (part: Part<Pick<ApiKey, 'partner_id' | 'id'>>) => store.listKeys(partner_id, part);
  const { records, ...cursor } = await readPage(read, ({ partner_id, id }) => ({ partner_id, id }));
  return { records: await shownKeys(store, records), ...cursor };
};

export function shownGrant(grant: ListedGrant): ListedGrant {
  return { ...grant, status: grantStatus(grant) };
}

export const listGrantsPage: List<ListedGrant> = async ({ store, query, readPage }) => {
  const { partner_id: partnerId, customer_id: customerId, status } = textsOf(query);
  if (partnerId === undefined && customerId === undefined) {
    throw refusal('MISSING_REQUIRED_PARAMETER', { field: 'partner_id or customer_id' }, 'partner_id');
  }
  const chosen = { partnerId, customerId, status: status as GrantStatus | undefined, at: toTime(Date.now()) };
  const read = (part: Part<Pick<Grant, 'customer_id' | 'id'>>) => listGrants(store, { ...chosen, ...part });
  const { records, ...cursor } = await readPage(read, ({ customer_id, id }) => ({ customer_id, id }));
  return { records: records.map(shownGrant), ...cursor };
};

/** Takes several actions, too. */
export const listAuditPage: List<NamedEntry> = async ({ store, query, readPage }) => {
  const { actor, target, since, until } = textsOf(query);
  const actions = [query.action].flat() as (string | undefined)[];
  const read = (part: Part<Pick<NumberedEntry, 'at' | 'seq'>>) =>
    listNamedAudit(store, { actor, actions, target, since, until, ...part });
  const { records, ...cursor } = await readPage(read, ({ at, seq }) => ({ at, seq }));
  return { records: records.map(({ seq: _, ...entry }) => entry), ...cursor };
};

/** The receipt of a request. Undefined also for a text that cannot be the id of a request. */
export async function receiptOfRequest(
  { listReceipts }: Pick<Store, 'listReceipts'>,
  requestId: string,
): Promise<Receipt | undefined> {
  if (!isRequestId(requestId)) return undefined;
  return (await listReceipts({ requestId: requestId.toLowerCase(), limit: 1 }))[0];
}

/** Logs are indexed by partner, not by key. Undefined if the key does not exist, so nothing is found. */
async function ownerOf(store: Store, query: Fields) {
  const { partner_id, key_id: keyId } = textsOf(query);
  if (keyId === undefined) return { partnerId: partner_id };
  const key = await store.findKeyById(keyId);
  return key && { partnerId: partner_id ?? key.partner_id, keyId };
}

export const listReceiptsPage: List<Receipt> = async ({ store, query, readPage }) => {
  const { request_id, customer_id: customerId, outcome, since, until } = textsOf(query);
  const operation = query.operation as Receipt['operation'] | undefined;
  if (outcome !== undefined && !isOutcome(outcome)) {
    throw refusal('INVALID_ENUM_VALUE', { allowed: someOutcome }, 'outcome');
  }
  const owner = await ownerOf(store, query);
  if (owner === undefined || (request_id !== undefined && !isRequestId(request_id))) return { records: [] };
  const requestId = request_id?.toLowerCase();
  const chosen = { ...owner, requestId, customerId, operation, outcome, since, until };
  const read = (part: Part<Pick<Receipt, 'at' | 'request_id'>>) => store.listReceipts({ ...chosen, ...part });
  return readPage(read, ({ at, request_id }) => ({ at, request_id }));
};

export const listUsagePage: List<UsageCount> = async ({ store, query, readPage }) => {
  const owner = await ownerOf(store, query);
  if (owner === undefined) return { records: [] };
  const { since, until } = textsOf(query);
  const by = (query.by ?? 'hour') as 'hour' | 'day';
  const read = (part: Part<UsagePosition>) => store.listUsage({ ...owner, by, since, until, ...part });
  return readPage(read, ({ count: _, peak: _peak, slowest_ms: _slowest, ...position }) => position);
};
