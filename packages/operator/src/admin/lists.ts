/** The lists of the administrative API, page by page. */
import { isRequestId } from '@partner-network/common/ids';
import { toTime } from '@partner-network/common/times';
import { refusal } from '@partner-network/http/refusal';
import type { ApiKey, GrantStatus, Store } from '@partner-network/store/port';
import { grantStatus, type ListedGrant, listGrants } from '../operations/grants.ts';
import { keyStatus } from '../operations/keys.ts';
import { isOutcome, someOutcome } from '../operations/receipts.ts';
import type { Fields } from './request.ts';

/** A page: the records, and where the next page begins. */
export interface Page {
  readonly records: readonly object[];
  readonly next: unknown;
}

/** Reads one record more than the page has, to know whether another page follows. */
async function pageOf<R extends object>(
  limit: number,
  read: (limit: number) => Promise<readonly R[]>,
  positionOf: (record: R) => unknown,
  shown: (records: readonly R[]) => Promise<readonly object[]> | readonly object[] = (records) => records,
): Promise<Page> {
  const found = await read(limit + 1);
  const records = found.slice(0, limit);
  const next = found.length > limit ? positionOf(records.at(-1)!) : undefined;
  return { records: await shown(records), next };
}

export interface ListQuery {
  readonly values: Fields;
  readonly limit: number;
  /** The position of the previous page, as `positionOf` made it. Refuses a wrong cursor. */
  after(): never;
}

type List = (store: Store, query: ListQuery) => Promise<Page>;

export const listPartnersPage: List = (store, { limit, after }) =>
  pageOf(
    limit,
    (count) => store.listPartners({ after: after(), limit: count }),
    ({ id }) => ({ id }),
  );

/** A key as the API shows it: with its status and last use. */
export async function shownKeys(store: Store, keys: readonly ApiKey[]): Promise<object[]> {
  const uses = await store.lastUses(keys.map(({ id }) => id));
  return keys.map((key) => {
    const { id, partner_id, name, scopes, last_four, created_at, created_by, expires_at, revoked_at } = key;
    const head = { id, partner_id, name, scopes, status: keyStatus(key), last_four };
    return { ...head, created_at, created_by, expires_at, revoked_at, last_used_at: uses.get(id) };
  });
}

export const listKeysPage: List = (store, { values, limit, after }) =>
  pageOf(
    limit,
    (count) => store.listKeys(values.partner_id as string | undefined, { after: after(), limit: count }),
    ({ partner_id, id }) => ({ partner_id, id }),
    (keys) => shownKeys(store, keys),
  );

export function shownGrant(grant: ListedGrant): object {
  return { ...grant, status: grantStatus(grant) };
}

export const listGrantsPage: List = (store, { values, limit, after }) => {
  const { partner_id: partnerId, customer_id: customerId } = values as Record<string, string | undefined>;
  if (partnerId === undefined && customerId === undefined) {
    throw refusal('MISSING_REQUIRED_PARAMETER', { field: 'partner_id or customer_id' }, 'partner_id');
  }
  const status = values.status as GrantStatus | undefined;
  const query = { partnerId, customerId, status, at: toTime(Date.now()) };
  return pageOf(
    limit,
    (count) => listGrants(store, { ...query, after: after(), limit: count }),
    ({ customer_id, id }) => ({ customer_id, id }),
    (grants) => grants.map(shownGrant),
  );
};

/** The time span of a log. */
const spanOf = ({ since, until }: Fields) =>
  ({ since, until }) as Record<'since' | 'until', string | undefined>;

export const listAuditPage: List = (store, { values, limit, after }) => {
  const { actor, action, target } = values as Record<string, string | undefined>;
  return pageOf(
    limit,
    (count) => store.listAudit({ actor, action, target, ...spanOf(values), after: after(), limit: count }),
    ({ at, seq }) => ({ at, seq }),
    (entries) => entries.map(({ seq: _, ...entry }) => entry),
  );
};

/** The receipt of a request. Undefined also for a text that cannot be the id of a request. */
export async function receiptOfRequest(store: Store, requestId: string): Promise<object | undefined> {
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

const nothing: Page = { records: [], next: undefined };

export const listReceiptsPage: List = async (store, { values, limit, after }) => {
  const { request_id, customer_id: customerId, outcome } = values as Record<string, string | undefined>;
  if (outcome !== undefined && !isOutcome(outcome)) {
    throw refusal('INVALID_ENUM_VALUE', { allowed: someOutcome }, 'outcome');
  }
  const owner = await ownerOf(store, values);
  if (owner === undefined || (request_id !== undefined && !isRequestId(request_id))) return nothing;
  const query = { ...owner, requestId: request_id?.toLowerCase(), customerId, outcome, ...spanOf(values) };
  return pageOf(
    limit,
    (count) => store.listReceipts({ ...query, after: after(), limit: count }),
    ({ at, request_id: id }) => ({ at, request_id: id }),
  );
};

export const listUsagePage: List = async (store, { values, limit, after }) => {
  const owner = await ownerOf(store, values);
  if (owner === undefined) return nothing;
  const by = (values.by ?? 'hour') as 'hour' | 'day';
  return pageOf(
    limit,
    (count) => store.listUsage({ ...owner, by, ...spanOf(values), after: after(), limit: count }),
    ({ count: _, ...position }) => position,
  );
};
