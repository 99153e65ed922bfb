/** What each operation of the administrative API does. */

import { toTime } from '@partner-network/common/times';
import type { AdminOperationId } from '@partner-network/contract/admin/operations';
import { overlapSeconds, refusalsPerMinute } from '@partner-network/contract/limits';
import type { Scope } from '@partner-network/contract/permissions';
import type { Exchange } from '@partner-network/http/handle';
import { refusal } from '@partner-network/http/refusal';
import { environmentOfAdminKey } from '@partner-network/service/auth';
import type { AuditAction, Author, ImportKind, Limits, Store } from '@partner-network/store/port';
import { rejection } from '../ingest/rejections.ts';
import { putGrant, revokeGrant, withRevocations } from '../operations/grants.ts';
import {
  apiKeys,
  findKeyByText,
  type Issued,
  putKey,
  putRotation,
  requireKey,
  revoke,
} from '../operations/keys.ts';
import { limitPartner, putPartner, requirePartner, switchPartner } from '../operations/partners.ts';
import type { BatchSender } from './batch-sender.ts';
import type { Caller } from './credentials.ts';
import {
  type List,
  type ListCall,
  listAuditPage,
  listGrantsPage,
  listKeysPage,
  listPartnersPage,
  listReceiptsPage,
  listUsagePage,
  receiptOfRequest,
  shownGrant,
  shownKeys,
} from './lists.ts';
import { notFound, refusalOfBody } from './refusals.ts';
import type { Answered, Fields } from './request.ts';

/** A request whose role, path, query and body are checked. */
export interface Call extends ListCall {
  readonly exchange: Exchange;
  readonly caller: Caller;
  readonly path: Readonly<Record<string, string>>;
  readonly body: Fields;
  /** The author of a change. */
  by(action: AuditAction): Author;
  readonly batches: BatchSender;
}

type Handler = (call: Call) => Promise<Answered>;

function created<Body extends object>(isNew: boolean, body: Body): Answered<Body> {
  return { status: isNew ? 201 : 200, body };
}

function listing<Name extends string, R extends object>(name: Name, list: List<R>) {
  return async (call: Call) => {
    const { records, ...cursor } = await list(call);
    const named = { [name]: records } as Readonly<Record<Name, readonly R[]>>;
    return { body: { ...named, ...cursor } };
  };
}

function switching(isDisabled: boolean) {
  return async ({ store, path, by }: Call) => {
    const author = by(isDisabled ? 'partners disable' : 'partners enable');
    return { body: { partner: await switchPartner(store, path.id!, isDisabled, author) } };
  };
}

function batchOf(kind: ImportKind): Handler {
  return ({ exchange, caller, query, by, batches }) =>
    batches.send(exchange, caller, {
      kind,
      by: by(`batch ${kind}`),
      skipsRejected: query.on_rejected === 'skip',
      mode: query.dry_run === 'true' ? 'try' : 'keep',
    });
}

async function keyAnswer(store: Store, { key, secret }: Issued) {
  const [shown] = await shownKeys(store, [key]);
  return created(secret !== undefined, { key: shown!, secret });
}

/** The key to find. A client that looks for a leaked administrative key must not think that it is safe. */
function partnersKeyOf({ key }: Fields): string {
  if (environmentOfAdminKey(String(key)) === undefined) return String(key);
  throw notFound(
    'This is an administrative key. Find it with "partner-network keys find -", ' +
      'and revoke it with "partner-network admin-keys revoke".',
  );
}

/** The partner that a body names. */
async function namedPartner(store: Store, { partner_id }: Fields): Promise<string> {
  const partner = await store.findPartner(String(partner_id));
  if (partner === undefined) throw refusalOfBody([rejection('UNKNOWN_PARTNER', 'partner_id')]);
  return partner.id;
}

export const handlers = {
  listPartners: listing('partners', listPartnersPage),
  getPartner: async ({ store, path }) => ({ body: { partner: await requirePartner(store, path.id!) } }),
  putPartner: async ({ store, path, body, by }) => {
    const { isNew, partner } = await putPartner(store, path.id!, String(body.name), by('partners create'));
    return created(isNew, { partner });
  },
  putLimits: async ({ store, path, body, by }) => {
    const { brands = null, balances = null } = body as Limits;
    const partner = await limitPartner(store, path.id!, { brands, balances }, by('partners limit'));
    return { body: { partner } };
  },
  disablePartner: switching(true),
  enablePartner: switching(false),

  listKeys: listing('keys', listKeysPage),
  getKey: async ({ store, path }) => keyAnswer(store, { key: await requireKey(store, path.id!) }),
  putKey: async ({ store, path, body, by }) => {
    const expiresAt = body.expires_at as string | undefined;
    const id = path.id!;
    if (body.replaces !== undefined) {
      const seconds = Number(body.overlap_seconds ?? overlapSeconds.default);
      const rotation = { id, replaces: String(body.replaces), overlapSeconds: seconds, expiresAt };
      return keyAnswer(store, await putRotation(store, rotation, by('keys rotate')));
    }
    const scopes = String(body.scopes).split(' ') as Scope[];
    const name = body.name as string | undefined;
    const given = { id, partnerId: await namedPartner(store, body), scopes, name, expiresAt };
    return keyAnswer(store, await putKey(store, given, by('keys create')));
  },
  revokeKey: async ({ store, path, by }) =>
    keyAnswer(store, { key: await revoke(apiKeys, store, path.id!, by('keys revoke')) }),
  findKey: async ({ store, body }) => {
    const key = await findKeyByText(store, partnersKeyOf(body));
    if (key === undefined) throw notFound('There is no such key in this environment.');
    return keyAnswer(store, { key });
  },

  listGrants: listing('grants', listGrantsPage),
  putGrant: async ({ store, path, body, by }) => {
    const given = {
      id: path.id!,
      customerId: path.customer_id!,
      partnerId: await namedPartner(store, body),
      expiresAt: body.expires_at as string | undefined,
    };
    const { isNew, grant } = await putGrant(store, given, by('grants create'));
    return created(isNew, { grant: shownGrant(grant) });
  },
  revokeGrant: async ({ store, path, by }) => {
    const revoked = await revokeGrant(store, path.customer_id!, path.id!, by('grants revoke'));
    const [grant] = await withRevocations(store, [revoked]);
    return { body: { grant: shownGrant(grant!) } };
  },
  revokeGrants: async ({ store, path, by }) => {
    const revoked = await store.revokeGrants(path.customer_id!, toTime(Date.now()), by('grants revoke'));
    return { body: { grants: (await withRevocations(store, revoked)).map(shownGrant) } };
  },
  eraseCustomer: async ({ store, path, body, by }) => {
    const customer_id = path.customer_id!;
    if (body.confirm !== customer_id) throw refusal('CONFIRMATION_MISMATCH', {}, 'confirm');
    const erased = await store.eraseCustomer(customer_id, by('customers erase'));
    if (erased === undefined && !(await store.isErased(customer_id))) {
      throw notFound('There is no balance or grant of this customer. Check the id.');
    }
    return { body: { customer_id, ...(erased ?? { balances: 0, grants: 0 }) } };
  },

  listAudit: listing('entries', listAuditPage),
  listReceipts: listing('receipts', listReceiptsPage),
  listUsage: listing('usage', listUsagePage),
  getRequest: async ({ store, path }) => {
    const receipt = await receiptOfRequest(store, path.request_id!);
    if (receipt !== undefined) return { body: { receipt } };
    throw notFound(
      'No receipt has this id. Requests for balances and refused requests for brands leave one, until it ' +
        `is pruned; a flood of refusals leaves ${refusalsPerMinute} a minute. Search the log of ` +
        '"partner-network serve" for request_id. The log of "partner-network admin" has batches and changes.',
    );
  },

  sendBrands: batchOf('brands'),
  sendBalances: batchOf('balances'),
  sendGrants: batchOf('grants'),
} satisfies Readonly<Record<AdminOperationId, Handler>>;
