/**
 * The operations of the administrative API. Routes, roles, parameters, the OpenAPI document and the reference
 * page are made from this table. An operation without a handler does not compile.
 */
import { lengths } from '../limits.ts';
import { cursorParameter, limitParameter, type Parameter } from '../operations.ts';
import type { FieldSchema, RecordSchema } from '../records.ts';
import { adminLimits } from './limits.ts';
import { type AdminRecordName, grantStatuses, scopeList, text, time } from './records.ts';
import type { AdminRole } from './roles.ts';

export const adminBasePath = '/admin/v1';

/** What an answer holds: one record, a list of records with a cursor, or the record itself. */
export type AdminResult =
  | { readonly one: string; readonly of: AdminRecordName; readonly more?: Readonly<Record<string, string>> }
  | { readonly list: string; readonly of: AdminRecordName; readonly isPaged: boolean }
  | { readonly of: AdminRecordName };

export interface AdminOperation {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Below the base path. A name in braces is a parameter, percent-encoded in a request. */
  readonly path: string;
  /** The least role that may send it. */
  readonly role: AdminRole;
  readonly summary: string;
  readonly description?: string;
  readonly pathParameters?: Readonly<Record<string, number>>;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  /** The forms of the JSON body. The first form whose required fields are given is checked. */
  readonly bodies?: readonly RecordSchema[];
  /** Whether the body may be left out. */
  readonly isBodyOptional?: boolean;
  readonly result: AdminResult;
  /** Statuses of success. */
  readonly statuses: readonly number[];
  /** Its errors, besides those that every request can get. */
  readonly errors?: readonly number[];
}

const reason = text(adminLimits.reasonCharacters, 'Why, for the audit log.');

function body(required: readonly string[], properties: Readonly<Record<string, FieldSchema>>): RecordSchema {
  return { required, properties: { ...properties, reason } };
}

/** The body of a change that needs no field. */
const onlyReason = { bodies: [body([], {})], isBodyOptional: true } as const;

function filter(description: string, maxLength: number, example?: string): Parameter {
  return { required: false, description, schema: { type: 'string', minLength: 1, maxLength }, example };
}

/** Two long ids make a long cursor. */
const cursor = { ...cursorParameter, schema: { ...cursorParameter.schema, maxLength: 4_096 } };
const paging = { cursor, limit: limitParameter };
const span = {
  since: filter('Only from this time on.', 64, '2027-01-31T00:00:00Z'),
  until: filter('Only before this time.', 64, '2027-02-01T00:00:00Z'),
};
const partnerFilter = filter('Only of this partner.', lengths.partnerId, 'PARTNER_ACME');
const keyFilter = filter('Only of this key.', lengths.keyId, 'KEY_1');
const customerFilter = filter('Only of this customer.', lengths.customerId, 'CUSTOMER_1');

function choice(description: string, words: readonly string[], fallback?: string): Parameter {
  const said = fallback === undefined ? description : `${description} The default is \`${fallback}\`.`;
  return {
    required: false,
    description: said,
    schema: { type: 'string', enum: words },
    example: fallback ?? words[0],
  };
}

function batch(kind: 'brands' | 'balances' | 'grants') {
  return {
    method: 'POST',
    path: `/${kind}/batches`,
    role: 'INGEST',
    summary: `Send a batch of ${kind}`,
    description:
      `Writes the lines in one transaction, and answers after its commit. Lines are those of \`import ` +
      `${kind}\`; \`id\` and \`updated_at\` (or \`deleted_at\`) are required, so a repeated batch is safe.`,
    parameters: {
      on_rejected: choice(
        'Whether a rejected line stops the batch, or is left out.',
        ['stop', 'skip'],
        'stop',
      ),
      dry_run: choice('Answer as the batch would, and write nothing.', ['true', 'false'], 'false'),
    },
    result: { of: 'BatchResult' },
    statuses: [200, 207, 422],
    errors: [408, 413, 415],
  } as const satisfies AdminOperation;
}

const partnerPath = { id: lengths.partnerId };
const keyPath = { id: lengths.keyId };
const customerPath = { customer_id: lengths.customerId };
const grantPath = { ...customerPath, id: lengths.grantId };
const changes = { errors: [404, 408, 413, 415] } as const;

export const adminOperations = {
  listPartners: {
    method: 'GET',
    path: '/partners',
    role: 'VIEWER',
    summary: 'List partners',
    parameters: paging,
    result: { list: 'partners', of: 'Partner', isPaged: true },
    statuses: [200],
  },
  getPartner: {
    method: 'GET',
    path: '/partners/{id}',
    role: 'VIEWER',
    summary: 'Get a partner',
    pathParameters: partnerPath,
    result: { one: 'partner', of: 'Partner' },
    statuses: [200],
    errors: [404],
  },
  putPartner: {
    method: 'PUT',
    path: '/partners/{id}',
    role: 'ADMIN',
    summary: 'Create or rename a partner',
    pathParameters: partnerPath,
    bodies: [body(['name'], { name: text(lengths.partnerName) })],
    result: { one: 'partner', of: 'Partner' },
    statuses: [200, 201],
    errors: [408, 409, 413, 415],
  },
  disablePartner: {
    method: 'POST',
    path: '/partners/{id}/disable',
    role: 'SUPPORT',
    summary: 'Refuse all keys of a partner',
    pathParameters: partnerPath,
    ...onlyReason,
    result: { one: 'partner', of: 'Partner' },
    statuses: [200],
    ...changes,
  },
  enablePartner: {
    method: 'POST',
    path: '/partners/{id}/enable',
    role: 'ADMIN',
    summary: 'Accept the keys of a disabled partner again',
    pathParameters: partnerPath,
    ...onlyReason,
    result: { one: 'partner', of: 'Partner' },
    statuses: [200],
    ...changes,
  },
  listKeys: {
    method: 'GET',
    path: '/keys',
    role: 'VIEWER',
    summary: 'List keys, without their secrets',
    parameters: { partner_id: partnerFilter, ...paging },
    result: { list: 'keys', of: 'Key', isPaged: true },
    statuses: [200],
  },
  getKey: {
    method: 'GET',
    path: '/keys/{id}',
    role: 'VIEWER',
    summary: 'Get a key, without its secret',
    pathParameters: keyPath,
    result: { one: 'key', of: 'Key' },
    statuses: [200],
    errors: [404],
  },
  putKey: {
    method: 'PUT',
    path: '/keys/{id}',
    role: 'ADMIN',
    summary: 'Create a key, or replace another key',
    description:
      'Answers 201 with the `secret`, once. The same request again gets 200 without it. A secret that was ' +
      'lost with its answer is gone: revoke the key and create another one. With `replaces`, the new key ' +
      'gets the partner, name, scopes and lifetime of the old key, which works for `overlap_seconds` more.',
    pathParameters: keyPath,
    bodies: [
      body(['replaces'], {
        replaces: text(lengths.keyId, 'The id of the key to replace.'),
        overlap_seconds: {
          type: 'integer',
          minimum: 0,
          maximum: 3650 * 86_400,
          description: 'How long the old key still works: 86400 by default; 0 revokes it.',
        },
        expires_at: time('When the new key expires.'),
      }),
      body(['partner_id', 'scopes'], {
        partner_id: text(lengths.partnerId),
        scopes: scopeList,
        name: text(lengths.partnerName, 'A name to recognize the key.'),
        expires_at: time('When the key expires. Without it, never.'),
      }),
    ],
    result: { one: 'key', of: 'Key', more: { secret: 'The key itself. It is shown only once.' } },
    statuses: [200, 201],
    errors: [404, 408, 409, 413, 415],
  },
  revokeKey: {
    method: 'POST',
    path: '/keys/{id}/revoke',
    role: 'SUPPORT',
    summary: 'Revoke a key for good',
    pathParameters: keyPath,
    ...onlyReason,
    result: { one: 'key', of: 'Key' },
    statuses: [200],
    ...changes,
  },
  findKey: {
    method: 'POST',
    path: '/keys/find',
    role: 'SUPPORT',
    summary: 'Find the owner of a leaked key',
    bodies: [{ required: ['key'], properties: { key: text(256, 'The whole key. It is never repeated.') } }],
    result: { one: 'key', of: 'Key' },
    statuses: [200],
    ...changes,
  },
  listGrants: {
    method: 'GET',
    path: '/grants',
    role: 'VIEWER',
    summary: 'List the grants of a partner or a customer',
    parameters: {
      partner_id: partnerFilter,
      customer_id: customerFilter,
      status: choice('Only grants with this status.', grantStatuses),
      ...paging,
    },
    result: { list: 'grants', of: 'Grant', isPaged: true },
    statuses: [200],
  },
  putGrant: {
    method: 'PUT',
    path: '/customers/{customer_id}/grants/{id}',
    role: 'ADMIN',
    summary: "Let a partner read a customer's balances",
    pathParameters: grantPath,
    bodies: [
      body(['partner_id'], {
        partner_id: text(lengths.partnerId),
        expires_at: time('When the grant expires. Without it, never.'),
      }),
    ],
    result: { one: 'grant', of: 'Grant' },
    statuses: [200, 201],
    errors: [408, 409, 413, 415],
  },
  revokeGrant: {
    method: 'POST',
    path: '/customers/{customer_id}/grants/{id}/revoke',
    role: 'SUPPORT',
    summary: 'Revoke a grant for good',
    pathParameters: grantPath,
    ...onlyReason,
    result: { one: 'grant', of: 'Grant' },
    statuses: [200],
    ...changes,
  },
  revokeGrants: {
    method: 'POST',
    path: '/customers/{customer_id}/revoke-grants',
    role: 'SUPPORT',
    summary: 'Revoke all grants of a customer for good',
    pathParameters: customerPath,
    ...onlyReason,
    result: { list: 'grants', of: 'Grant', isPaged: false },
    statuses: [200],
    errors: [408, 413, 415],
  },
  eraseCustomer: {
    method: 'POST',
    path: '/customers/{customer_id}/erase',
    role: 'ADMIN',
    summary: "Delete a customer's balances and grants for good",
    pathParameters: customerPath,
    bodies: [body(['confirm'], { confirm: text(lengths.customerId, 'The customer id of the path.') })],
    result: { of: 'Erasure' },
    statuses: [200],
    ...changes,
  },
  listAudit: {
    method: 'GET',
    path: '/audit',
    role: 'VIEWER',
    summary: 'List who changed what, newest first',
    parameters: {
      actor: filter('Only changes by this actor.', 256),
      action: filter('Only changes of this kind, such as `keys revoke`.', 64, 'keys revoke'),
      target: filter('Only changes of this partner, key, grant or customer.', lengths.grantId),
      ...span,
      ...paging,
    },
    result: { list: 'entries', of: 'AuditEntry', isPaged: true },
    statuses: [200],
  },
  listReceipts: {
    method: 'GET',
    path: '/receipts',
    role: 'VIEWER',
    summary: 'List who requested whose balances, newest first',
    parameters: {
      request_id: filter('Only the request with this `X-Request-Id`.', 36),
      partner_id: partnerFilter,
      key_id: keyFilter,
      customer_id: customerFilter,
      outcome: filter('Only requests with this outcome: `GRANTED` or an error code.', 64, 'GRANT_REVOKED'),
      ...span,
      ...paging,
    },
    result: { list: 'receipts', of: 'Receipt', isPaged: true },
    statuses: [200],
  },
  listUsage: {
    method: 'GET',
    path: '/usage',
    role: 'VIEWER',
    summary: 'Count answers by hour or day, key, operation and code, newest first',
    parameters: {
      partner_id: partnerFilter,
      key_id: keyFilter,
      by: choice('Whole hours or whole days of UTC.', ['hour', 'day'], 'hour'),
      ...span,
      ...paging,
    },
    result: { list: 'usage', of: 'UsageCount', isPaged: true },
    statuses: [200],
  },
  getRequest: {
    method: 'GET',
    path: '/requests/{request_id}',
    role: 'VIEWER',
    summary: 'Get what is stored of a request',
    pathParameters: { request_id: 36 },
    result: { one: 'receipt', of: 'Receipt' },
    statuses: [200],
    errors: [404],
  },
  sendBrands: batch('brands'),
  sendBalances: batch('balances'),
  sendGrants: batch('grants'),
} as const satisfies Record<string, AdminOperation>;

export type AdminOperationId = keyof typeof adminOperations;
