/** The lists of the administrative API, page by page. */
import { isRequestId } from '@partner-network/common/ids';
import { toTime } from '@partner-network/common/times';
import { refusal } from '@partner-network/http/refusal';
import { isOutcome, someOutcome } from '@partner-network/service/receipts/receipt';
import type {
  ApiKey,
  AuditEntry,
  Grant,
  GrantStatus,
  NumberedEntry,
  Partner,
  Receipt,
  Store,
  UsageCount,
} from '@partner-network/store/port';
import { grantStatus, type ListedGrant, listGrants } from '../operations/grants.ts';
import { keyStatus } from '../operations/keys.ts';
import type { Fields } from './request.ts';

/** A page: the records, and where the next page begins. */
export interface Page<R extends object = object> {
  readonly records: readonly R[];
  readonly next: unknown;
}

/** A page with the cursor of the next one. */
export interface Listed<R extends object = object> {
  readonly records: readonly R[];
  readonly cursor?: string;
}

export interface ListQuery {
  readonly values: Fields;
  readonly limit: number;
  /** The position where the previous page ended, as `positionOf` made it. Refuses a wrong cursor. */
  after(): unknown;
}

/** Where a page begins, and how many records are read. */
interface Part<Position> {
  readonly after: Position | undefined;
  readonly limit: number;
}

/** Reads one record more than the page has, to know whether another page follows. */
async function pageOf<R extends object, Position>(
  { limit, after }: ListQuery,
  read: (part: Part<Position>) => Promise<readonly R[]>,
  positionOf: (record: R) => Position,
): Promise<Page<R>> {
  // The cursor was sealed here, so its position has this type.
  const found = await read({ after: after() as Position | undefined, limit: limit + 1 });
  const records = found.slice(0, limit);
  return { records, next: found.length > limit ? positionOf(records.at(-1)!) : undefined };
}

export type List<R extends object> = (store: Store, query: ListQuery) => Promise<Page<R>>;

export const listPartnersPage: List<Partner> = (store, query) =>
  pageOf(query, store.listPartners, ({ id }) => ({ id }));

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

export const listKeysPage: List<ShownKey> = async (store, query) => {
  const partnerId = query.values.partner_id as string | undefined;
  const read = (part: Part<Pick<ApiKey, 'partner_id' | 'id'>>) => store.listKeys(partnerId, part);
  const { records, next } = await pageOf(query, read, ({ partner_id, id }) => ({ partner_id, id }));
  return { records: await shownKeys(store, records), next };
};

export function shownGrant(grant: ListedGrant): ListedGrant {
  return { ...grant, status: grantStatus(grant) };
}

export const listGrantsPage: List<ListedGrant> = async (store, query) => {
  const { values } = query;
  const { partner_id: partnerId, customer_id: customerId } = values as Record<string, string | undefined>;
  if (partnerId === undefined && customerId === undefined) {
    throw refusal('MISSING_REQUIRED_PARAMETER', { field: 'partner_id or customer_id' }, 'partner_id');
  }
  const status = values.status as GrantStatus | undefined;
  const chosen = { partnerId, customerId, status, at: toTime(Date.now()) };
  const read = (part: Part<Pick<Grant, 'customer_id' | 'id'>>) => listGrants(store, { ...chosen, ...part });
  const { records, next } = await pageOf(query, read, ({ customer_id, id }) => ({ customer_id, id }));
  return { records: records.map(shownGrant), next };
};

/** The time span of a log. */
const spanOf = ({ since, until }: Fields) =>
  ({ since, until }) as Record<'since' | 'until', string | undefined>;

/** Takes several actions, too: each has its own place in an index. */
export const listAuditPage: List<AuditEntry> = async (store, query) => {
  const { actor, target } = query.values as Record<string, string | undefined>;
  const actions = [query.values.action].flat() as (string | undefined)[];
  const chosen = { actor, target, ...spanOf(query.values) };
  const read = async (part: Part<Pick<NumberedEntry, 'at' | 'seq'>>) => {
    const found = await Promise.all(actions.map((action) => store.listAudit({ ...chosen, action, ...part })));
    return found.length === 1 ? found[0]! : found.flat().toSorted(newestFirst);
  };
  const { records, next } = await pageOf(query, read, ({ at, seq }) => ({ at, seq }));
  return { records: records.map(({ seq: _, ...entry }) => entry), next };
};

function newestFirst(one: NumberedEntry, other: NumberedEntry): number {
  return one.at === other.at ? other.seq - one.seq : one.at < other.at ? 1 : -1;
}

/** The receipt of a request. Undefined also for a text that cannot be the id of a request. */
export async function receiptOfRequest(store: Store, requestId: string): Promise<Receipt | undefined> {
  if (!isRequestId(requestId)) return undefined;
  return (await store.listReceipts({ requestId: requestId.toLowerCase(), limit: 1 }))[0];
}

/** Logs are indexed by partner, not by key. Undefined if the key does not exist, so nothing is found. */
async function ownerOf(store: Store, { partner_id, key_id }: Fields) {
  const key = key_id === undefined ? undefined : await store.findKeyById(String(key_id));
  if (key_id !== undefined && key === undefined) return undefined;
  const partnerId = (partner_id ?? key?.partner_id) as string | undefined;
  return { partnerId, keyId: key_id as string | undefined };
}

const nothing: Page<never> = { records: [], next: undefined };

export const listReceiptsPage: List<Receipt> = async (store, query) => {
  const { values } = query;
  const { request_id, customer_id: customerId, outcome } = values as Record<string, string | undefined>;
  if (outcome !== undefined && !isOutcome(outcome)) {
    throw refusal('INVALID_ENUM_VALUE', { allowed: someOutcome }, 'outcome');
  }
  const owner = await ownerOf(store, values);
  if (owner === undefined || (request_id !== undefined && !isRequestId(request_id))) return nothing;
  const chosen = { ...owner, requestId: request_id?.toLowerCase(), customerId, outcome, ...spanOf(values) };
  const read = (part: Part<Pick<Receipt, 'at' | 'request_id'>>) => store.listReceipts({ ...chosen, ...part });
  return pageOf(query, read, ({ at, request_id }) => ({ at, request_id }));
};

export const listUsagePage: List<UsageCount> = async (store, query) => {
  const owner = await ownerOf(store, query.values);
  if (owner === undefined) return nothing;
  const by = (query.values.by ?? 'hour') as 'hour' | 'day';
  const read = (part: Part<Omit<UsageCount, 'count'>>) =>
    store.listUsage({ ...owner, by, ...spanOf(query.values), ...part });
  return pageOf(query, read, ({ count: _, ...position }) => position);
};
