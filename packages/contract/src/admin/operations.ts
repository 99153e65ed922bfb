/**
 * The operations of the administrative API. Routes, roles, parameters, the OpenAPI document and the reference
 * page are made from this table. An operation without a handler does not compile.
 */
import { adminLimits, lengths, overlapSeconds } from '../limits.ts';
import {
  cursorParameter,
  limitParameter,
  listings,
  type Operation,
  type Parameter,
  type Parameters,
} from '../operations.ts';
import type { AdminRole } from '../permissions.ts';
import { type FieldSchema, type RecordSchema, text, time } from '../records.ts';
import { type AdminRecordName, grantStatuses, ownRates, partnerName, scopeList } from './records.ts';

export const adminBasePath = '/admin/v1';

export type AdminOperation = Operation<AdminRole, AdminRecordName>;

/** What operations are about: its path below the base, the parameters in it, and the answer. */
type Subject = Pick<AdminOperation, 'path' | 'pathParameters' | 'result'>;

const partner: Subject = {
  path: '/partners/{id}',
  pathParameters: { id: lengths.partnerId },
  result: { one: 'partner', of: 'Partner' },
};
const key: Subject = {
  path: '/keys/{id}',
  pathParameters: { id: lengths.keyId },
  result: { one: 'key', of: 'Key' },
};
const keys: Subject = { path: '/keys', result: key.result };
const customer = {
  path: '/customers/{customer_id}',
  pathParameters: { customer_id: lengths.customerId },
};
const grants: Subject = { ...customer, result: { list: 'grants', of: 'Grant', isPaged: false } };
const erased: Subject = { ...customer, result: { of: 'Erasure' } };
const grant: Subject = {
  path: `${customer.path}/grants/{id}`,
  pathParameters: { ...customer.pathParameters, id: lengths.grantId },
  result: { one: 'grant', of: 'Grant' },
};
const request: Subject = {
  path: '/requests/{request_id}',
  pathParameters: { request_id: 36 },
  result: { one: 'receipt', of: 'Receipt' },
};

/** Makes an operation. `errors` are statuses of errors that others do not have. */
function operation(
  method: AdminOperation['method'],
  permission: AdminRole,
  { path, ...subject }: Subject & Partial<AdminOperation>,
  summary: string,
  errors: readonly number[] = [],
): AdminOperation {
  const ofBody = method === 'GET' ? [] : [408, 413, 415];
  return {
    method,
    permission,
    path: adminBasePath + path,
    // The first word of the path; batches belong together.
    tag: path.endsWith('/batches') ? 'batches' : path.split('/')[1]!,
    summary,
    parameters: {},
    ...subject,
    errors: [400, 401, 403, 500, 503, ...ofBody, ...errors].toSorted(),
  };
}

const get = (subject: Subject, summary: string) => operation('GET', 'VIEWER', subject, summary, [404]);

/** Reads a list page by page. Two long ids make a long cursor. */
function list(path: string, name: string, of: AdminRecordName, summary: string, filters: Parameters = {}) {
  const cursor = { ...cursorParameter, schema: { ...cursorParameter.schema, maxLength: 4_096 } };
  const parameters = { ...filters, cursor, limit: limitParameter };
  const result = { list: name, of, isPaged: true };
  return operation('GET', 'VIEWER', { path, parameters, result }, summary);
}

/** Creates something, or does nothing if it exists already. */
function put(subject: Subject, summary: string, bodies: readonly RecordSchema[], errors?: readonly number[]) {
  return operation('PUT', 'ADMIN', { ...subject, bodies, statuses: [200, 201] }, summary, errors);
}

/** Changes something that exists. Without required fields, the body may have a reason. */
function change(
  subject: Subject,
  verb: string,
  role: AdminRole,
  summary: string,
  errors: readonly number[],
  required: Readonly<Record<string, FieldSchema>> = {},
) {
  const names = Object.keys(required);
  const body = { bodies: [fields(names, required)], isBodyOptional: names.length === 0 };
  return operation('POST', role, { ...subject, path: `${subject.path}/${verb}`, ...body }, summary, errors);
}

const batchBody = {
  required: true,
  description: `At most ${adminLimits.batchLines} lines and ${adminLimits.batchBytes} bytes, unpacked.`,
  content: {
    'application/x-ndjson': { schema: { type: 'string', description: 'One record a line.' } },
    'application/json': {
      schema: {
        type: 'array',
        maxItems: adminLimits.batchLines,
        items: {
          type: 'object',
          description: 'A record, or a deletion with `deleted_at`, as in imports.',
        },
      },
    },
  },
};

function batch(kind: 'brands' | 'balances' | 'grants') {
  const subject: Subject & Partial<AdminOperation> = {
    path: `/${kind}/batches`,
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
    batchBody,
    result: { of: 'BatchResult' },
    statuses: [200, 207, 422],
  };
  return operation('POST', 'INGEST', subject, `Send a batch of ${kind}`);
}

/** The form of a body. Every body may have a reason. */
function fields(
  required: readonly string[],
  properties: Readonly<Record<string, FieldSchema>>,
): RecordSchema {
  const reason = text(adminLimits.reasonCharacters, 'Why, for the audit log.');
  return { required, properties: { ...properties, reason } };
}

function filter(description: string, maxLength: number, example?: string): Parameter {
  return { required: false, description, schema: { type: 'string', minLength: 1, maxLength }, example };
}

function choice(description: string, words: readonly string[], fallback?: string): Parameter {
  const said = fallback === undefined ? description : `${description} The default is \`${fallback}\`.`;
  const schema = { type: 'string', enum: words } as const;
  return { required: false, description: said, schema, example: fallback ?? words[0] };
}

const partner_id = filter('Only of this partner.', lengths.partnerId, 'PARTNER_ACME');
const key_id = filter('Only of this key.', lengths.keyId, 'KEY_1');
const customer_id = filter('Only of this customer.', lengths.customerId, 'CUSTOMER_1');

const span = (from: string, to: string) => ({
  since: filter(`Only ${from}.`, 64, '2027-01-31T00:00:00Z'),
  until: filter(`Only ${to}.`, 64, '2027-02-01T00:00:00Z'),
});

export const adminOperations = {
  listPartners: list('/partners', 'partners', 'Partner', 'List partners'),
  getPartner: get(partner, 'Get a partner'),
  putPartner: put(partner, 'Create or rename a partner', [fields(['name'], { name: partnerName })]),
  putLimits: {
    ...operation(
      'PUT',
      'ADMIN',
      { ...partner, path: `${partner.path}/limits`, bodies: [fields([], ownRates(['integer', 'null']))] },
      "Set a partner's own rate limits",
      [404],
    ),
    description:
      'Sets the rate limits of a partner, in force within 1 second. Null or an absent field means the ' +
      'default. The same request again changes nothing.',
  },
  disablePartner: change(partner, 'disable', 'SUPPORT', 'Refuse all keys of a partner', [404]),
  enablePartner: change(partner, 'enable', 'ADMIN', 'Accept the keys of a disabled partner again', [404]),

  listKeys: list('/keys', 'keys', 'Key', 'List keys, without their secrets', { partner_id }),
  getKey: get(key, 'Get a key, without its secret'),
  putKey: {
    ...put(
      key,
      'Create a key, or replace another key',
      [
        fields(['replaces'], {
          replaces: text(lengths.keyId, 'The id of the key to replace.'),
          overlap_seconds: {
            type: 'integer',
            minimum: 0,
            maximum: overlapSeconds.max,
            description: `How long the old key still works: ${overlapSeconds.default} by default; 0 revokes it.`,
          },
          expires_at: time('When the new key expires: a time in the future.'),
        }),
        fields(['partner_id', 'scopes'], {
          partner_id: text(lengths.partnerId),
          scopes: scopeList,
          name: text(lengths.partnerName, 'A name to recognize the key.'),
          expires_at: time('When the key expires: a time in the future. Without it, never.'),
        }),
      ],
      [404, 409],
    ),
    description:
      'Answers 201 with the `secret`, once. The same request again gets 200 without it. A secret that was ' +
      'lost with its answer is gone: revoke the key and create another one. With `replaces`, the new key ' +
      'gets the partner, name, scopes and lifetime of the old key, which works for `overlap_seconds` more.',
    result: { one: 'key', of: 'Key', secret: 'The key itself. It is shown only once.' },
  },
  revokeKey: change(key, 'revoke', 'SUPPORT', 'Revoke a key for good', [404]),
  findKey: change(keys, 'find', 'SUPPORT', 'Find the owner of a leaked key', [404], {
    key: text(256, 'The whole key. It is never repeated.'),
  }),

  listGrants: list('/grants', 'grants', 'Grant', 'List the grants of a partner or a customer', {
    partner_id,
    customer_id,
    status: choice('Only grants with this status.', grantStatuses),
  }),
  putGrant: put(
    grant,
    "Let a partner read a customer's balances",
    [
      fields(['partner_id'], {
        partner_id: text(lengths.partnerId),
        expires_at: time('When the grant expires: a time in the future. Without it, never.'),
      }),
    ],
    [409],
  ),
  revokeGrant: change(grant, 'revoke', 'SUPPORT', 'Revoke a grant for good', [404]),
  revokeGrants: change(grants, 'revoke-grants', 'SUPPORT', 'Revoke all grants of a customer for good', []),
  eraseCustomer: change(erased, 'erase', 'ADMIN', "Delete a customer's balances and grants for good", [404], {
    confirm: text(lengths.customerId, 'The customer id of the path.'),
  }),

  listAudit: list('/audit', 'entries', 'AuditEntry', 'List who changed what, newest first', {
    actor: filter('Only changes by this actor, by this person, or by keys with this name.', 256),
    action: filter('Only changes of this kind, such as `keys revoke`.', 64, 'keys revoke'),
    target: filter(
      'Only changes of this key or grant, or of this partner or customer with its keys and grants.',
      lengths.grantId,
    ),
    ...span('from this time on', 'before this time'),
  }),
  listReceipts: list('/receipts', 'receipts', 'Receipt', 'List who requested what, newest first', {
    request_id: filter('Only the request with this `X-Request-Id`.', 36),
    partner_id,
    key_id,
    customer_id,
    operation: choice(
      'Only requests for this operation.',
      listings.map(({ id }) => id),
    ),
    outcome: filter('Only requests with this outcome: `GRANTED` or an error code.', 64, 'GRANT_REVOKED'),
    ...span('from this time on', 'before this time'),
  }),
  listUsage: list(
    '/usage',
    'usage',
    'UsageCount',
    'Count answers by hour or day, key, operation and code, newest first',
    {
      partner_id,
      key_id,
      by: choice('Whole hours or whole days of UTC.', ['hour', 'day'], 'hour'),
      ...span('hours or days that end after this time', 'hours or days that begin before this time'),
    },
  ),
  getRequest: get(request, 'Get what is stored of a request'),

  sendBrands: batch('brands'),
  sendBalances: batch('balances'),
  sendGrants: batch('grants'),
} satisfies Record<string, AdminOperation>;

export type AdminOperationId = keyof typeof adminOperations;
