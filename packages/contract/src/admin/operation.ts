/** The form of an operation of the administrative API, and what several operations share. */
import { adminLimits, lengths } from '../limits.ts';
import { cursorParameter, limitParameter, type Parameter } from '../operations.ts';
import type { AdminRole } from '../permissions.ts';
import type { FieldSchema, RecordSchema } from '../records.ts';
import { type AdminRecordName, text } from './records.ts';

export const adminBasePath = '/admin/v1';

/** What an answer holds: one record, a list of records with a cursor, or the record itself. */
export type AdminResult =
  | { readonly one: string; readonly of: AdminRecordName; readonly secret?: string }
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
  /** Statuses of success, if they are not 200 alone. */
  readonly statuses?: readonly number[];
  /** Statuses of errors, besides those that every request and every body can get. */
  readonly errors?: readonly number[];
}

/** The statuses of all errors of an operation. */
export function errorStatusesOf({ method, errors = [] }: AdminOperation): number[] {
  const ofBody = method === 'GET' ? [] : [408, 413, 415];
  return [400, 401, 403, 500, 503, ...ofBody, ...errors].toSorted();
}

export const reason = text(adminLimits.reasonCharacters, 'Why, for the audit log.');

export function body(
  required: readonly string[],
  properties: Readonly<Record<string, FieldSchema>>,
): RecordSchema {
  return { required, properties: { ...properties, reason } };
}

/** The body of a change that needs no field. */
export const onlyReason = { bodies: [body([], {})], isBodyOptional: true } as const;

export function filter(description: string, maxLength: number, example?: string): Parameter {
  return { required: false, description, schema: { type: 'string', minLength: 1, maxLength }, example };
}

/** Two long ids make a long cursor. */
export const cursor = { ...cursorParameter, schema: { ...cursorParameter.schema, maxLength: 4_096 } };
export const paging = { cursor, limit: limitParameter };
const spanOf = (from: string, to: string) => ({
  since: filter(`Only ${from}.`, 64, '2027-01-31T00:00:00Z'),
  until: filter(`Only ${to}.`, 64, '2027-02-01T00:00:00Z'),
});
export const span = spanOf('from this time on', 'before this time');
/** Counts are of whole hours or days. */
export const unitSpan = spanOf(
  'hours or days that end after this time',
  'hours or days that begin before this time',
);
export const partnerFilter = filter('Only of this partner.', lengths.partnerId, 'PARTNER_ACME');
export const keyFilter = filter('Only of this key.', lengths.keyId, 'KEY_1');
export const customerFilter = filter('Only of this customer.', lengths.customerId, 'CUSTOMER_1');

export function choice(description: string, words: readonly string[], fallback?: string): Parameter {
  const said = fallback === undefined ? description : `${description} The default is \`${fallback}\`.`;
  return {
    required: false,
    description: said,
    schema: { type: 'string', enum: words },
    example: fallback ?? words[0],
  };
}

export function batch(kind: 'brands' | 'balances' | 'grants') {
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
  } as const satisfies AdminOperation;
}

export const partnerPath = { id: lengths.partnerId };
export const keyPath = { id: lengths.keyId };
export const customerPath = { customer_id: lengths.customerId };
export const grantPath = { ...customerPath, id: lengths.grantId };
