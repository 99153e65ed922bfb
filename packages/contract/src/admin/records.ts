/** The records of the administrative API as JSON Schema. Grants, audit entries and receipts are as stored. */
import { adminLimits, lengths, ratePerSecond, refusalsPerMinute } from '../limits.ts';
import { ref } from '../openapi/document.ts';
import { listings } from '../operations.ts';
import { scopes } from '../permissions.ts';
import { type FieldSchema, text, time, visible } from '../records.ts';

interface AdminRecord {
  readonly description: string;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, object>>;
}

const count = (description: string): FieldSchema => ({ type: 'integer', minimum: 0, description });

/** A new name of a partner. */
export const partnerName: FieldSchema = { ...text(lengths.partnerName, 'Not blank.'), pattern: visible };

/** A partner's own rate limits, by listing. */
export const ownRates = (type: FieldSchema['type']) => ({
  brands: { type, ...rate, description: 'List-brands requests per second.' },
  balances: { type, ...rate, description: 'List-balances requests per second.' },
});

const rate = { minimum: ratePerSecond.min, maximum: ratePerSecond.max };

export const scopeList: FieldSchema = {
  type: 'array',
  description: 'What the key may do.',
  items: { type: 'string', enum: scopes },
};

export const grantStatuses = ['ACTIVE', 'CONSUMED', 'REVOKED', 'EXPIRED'] as const;

const grantStatus: FieldSchema = {
  type: 'string',
  enum: grantStatuses,
  description: 'An active grant past its expiry is EXPIRED.',
};

const keyStatus: FieldSchema = { type: 'string', enum: ['active', 'revoked', 'expired'] };

/** The operation of a request, as in the metrics. */
const listingId: FieldSchema = { type: 'string', enum: listings.map(({ id }) => id) };

/** An error of a line of a batch. */
const lineError = {
  allOf: [ref('schemas', 'ErrorRecord')],
  properties: {
    line: { type: 'integer', minimum: 1, description: 'The number of the line, from 1.' },
    id: { type: 'string', description: 'The id of the record, if the line has one.' },
  },
};

/** Names are those of components in the OpenAPI document. */
export const adminRecords = {
  Partner: {
    description: 'A partner.',
    required: ['id', 'name', 'created_at'],
    properties: {
      id: text(lengths.partnerId),
      name: text(lengths.partnerName),
      created_at: time('Time of creation.'),
      disabled_at: time('Time since which all keys of the partner are refused. Absent if they are not.'),
      limits: {
        type: 'object',
        description: 'Its own rate limits. Where it has none, the default of the service applies.',
        properties: ownRates('integer'),
      },
    },
  },
  Key: {
    description: 'An API key of a partner, without its secret.',
    required: ['id', 'partner_id', 'scopes', 'status', 'last_four', 'created_at'],
    properties: {
      id: text(lengths.keyId),
      partner_id: text(lengths.partnerId),
      name: text(lengths.partnerName),
      scopes: scopeList,
      status: keyStatus,
      last_four: text(4, 'The last characters of the key, to distinguish keys.'),
      created_at: time('Time of creation.'),
      created_by: text(256, 'Who created it. Absent on keys of older versions.'),
      expires_at: time('Time from which the key is refused. Absent if it never expires.'),
      revoked_at: time('Time of the revocation.'),
      last_used_at: time('Last use, to the minute.'),
    },
  },
  Grant: {
    description: "A customer's permission for a partner to read the customer's balances.",
    required: ['id', 'partner_id', 'customer_id', 'action', 'status', 'created_at', 'updated_at'],
    properties: {
      id: text(lengths.grantId),
      partner_id: text(lengths.partnerId),
      customer_id: text(lengths.customerId),
      action: { type: 'string', enum: ['CHECKING_BALANCE'] },
      status: grantStatus,
      expires_at: time('Time from which the grant does not work. Absent if it never expires.'),
      created_at: time('Time of creation.'),
      updated_at: time('Time of the last change.'),
      revoked_at: time('Time of the revocation.'),
      revoked_by: text(256, 'Who revoked it, if a command or a request did. Absent for a line of an import.'),
    },
  },
  AuditEntry: {
    description: 'Who changed what.',
    required: ['at', 'actor', 'action', 'target', 'details'],
    properties: {
      at: time('Time of the change.'),
      actor: text(256, 'Who made the change: `admin-key:ID`, or `person:NAME` for a person who signed in.'),
      actor_name: text(lengths.partnerName, 'The name of the key. Absent if no key made the change.'),
      action: text(64, 'What was done, such as `keys revoke`.'),
      target: text(256, 'The id of what was changed.'),
      details: { type: 'object', description: 'What changed, without secrets, amounts and personal data.' },
      db_user: text(256, 'The login that wrote the entry, by Postgres itself.'),
      client_address: text(256, 'The address of that connection, by Postgres itself.'),
    },
  },
  Receipt: {
    description:
      'The record of a request, without what was listed: of every list of balances, and of lists of brands ' +
      `that were refused, at most ${refusalsPerMinute} a minute for a key and code on each instance.`,
    required: ['at', 'request_id', 'operation', 'partner_id', 'key_id', 'outcome'],
    properties: {
      at: time('Time of the request.'),
      request_id: { type: 'string', format: 'uuid' },
      operation: listingId,
      partner_id: text(lengths.partnerId),
      key_id: text(lengths.keyId),
      customer_id: text(lengths.customerId, 'Absent if the request had no valid customer id.'),
      grant_id: text(lengths.grantId, 'The grant that was used, or that was requested and refused.'),
      outcome: text(64, '`GRANTED`, or the code of the error.'),
    },
  },
  UsageCount: {
    description: 'The number of answers in an hour or a day.',
    required: ['from', 'partner_id', 'key_id', 'operation', 'code', 'count'],
    properties: {
      from: time('The beginning of the hour or day, in UTC.'),
      partner_id: text(lengths.partnerId),
      key_id: text(lengths.keyId),
      operation: listingId,
      code: text(64, '`OK`, or the code of the first error.'),
      count: count('The number of answers.'),
      peak: count(
        'With `OK`: the most requests of the partner, by all its keys, that were admitted in one second.',
      ),
      slowest_ms: count('With `OK`: the longest answer in milliseconds.'),
    },
  },
  Erasure: {
    description: 'What an erasure deleted. Zeros if the customer was erased before.',
    required: ['customer_id', 'balances', 'grants'],
    properties: {
      customer_id: text(lengths.customerId),
      balances: count('Deleted balances.'),
      grants: count('Deleted grants.'),
    },
  },
  BatchResult: {
    description: 'What a batch did.',
    required: ['read', 'written', 'unchanged', 'stale', 'deleted', 'rejected_count'],
    properties: {
      read: count('Lines of the batch.'),
      written: count('Records that are new or changed.'),
      unchanged: count('Records that are stored like this already.'),
      stale: count('Lines that are older than what is stored, a deletion or an erasure.'),
      deleted: count('Records that were deleted.'),
      rejected_count: count('Lines that were rejected.'),
      errors: {
        type: 'array',
        description: `Why lines were rejected, the first ${adminLimits.batchErrors} at most.`,
        items: lineError,
      },
    },
  },
} as const satisfies Record<string, AdminRecord>;

export type AdminRecordName = keyof typeof adminRecords;
