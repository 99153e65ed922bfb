/** The records as JSON Schema, with the fields in the order in which they are sent. */
import type { XStatic } from 'typebox/schema';
import { errorCategories } from './errors.ts';
import { amount, lengths } from './limits.ts';

/** The part of JSON Schema that the records use. */
export interface FieldSchema {
  /** A list if null may be sent, too: an optional field that is null counts as absent. */
  readonly type: string | readonly [string, 'null'];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxProperties?: number;
  /** The schema of each item of a list. */
  readonly items?: FieldSchema;
  /** The value of a parameter that is absent. */
  readonly default?: number;
}

/** The pattern of a text that is not blank. */
export const visible = '\\S';

export interface RecordSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, FieldSchema>>;
}

export const text = <const Max extends number>(maxLength: Max, description?: string) =>
  ({ type: 'string', minLength: 1, maxLength, ...(description && { description }) }) as const;

export const time = (description: string) => ({ type: 'string', format: 'date-time', description }) as const;

const times = {
  created_at: time('Creation time: RFC 3339, UTC, with milliseconds.'),
  updated_at: time('Time of the last update: RFC 3339, UTC, with milliseconds.'),
};

export const balanceSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'customer_id', 'type', 'currency', 'amount'],
  properties: {
    id: text(
      lengths.balanceId,
      'Identifier issued by the service, unique among the balances of its customer.',
    ),
    customer_id: text(lengths.customerId, 'Identifier of the customer who owns the balance.'),
    type: { type: 'string', enum: ['CHECKING'], description: 'Type of the balance.' },
    currency: {
      type: 'string',
      enum: ['USD'],
      description: 'Currency of the amount: an ISO 4217 alpha-3 code.',
    },
    amount: {
      type: 'integer',
      minimum: amount.min,
      maximum: amount.max,
      description: 'Amount in the smallest unit of the currency, which is cents for USD. It can be negative.',
    },
    ...times,
  },
} as const;

export const brandSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'name', 'created_at', 'updated_at', 'reference_id'],
  properties: {
    id: text(lengths.brandId, 'Identifier issued by the service, unique among your brands.'),
    name: text(lengths.brandName, 'Name shown next to payments in the consumer app.'),
    ...times,
    reference_id: text(
      lengths.referenceId,
      'Your own identifier, which links the brand to a record in another system. Several brands can have ' +
        'the same one. It is independent of the `reference_id` of a merchant.',
    ),
    color: {
      type: 'string',
      pattern: '^#[0-9A-Fa-f]{6}$',
      description: 'Primary color of the brand and its logo: `#` and six hexadecimal digits.',
    },
    profile_image_url: {
      type: 'string',
      format: 'uri',
      minLength: lengths.imageUrl.min,
      maxLength: lengths.imageUrl.max,
      description:
        'URL of the image shown next to payments to the brand, usually its logo. The image is square, at ' +
        'least 256x256 pixels, under 2 MB, and a png, jpg or jpeg. A brand without an image has the URL ' +
        'of a placeholder.',
    },
    metadata: {
      type: 'object',
      additionalProperties: { type: 'string' },
      maxProperties: lengths.metadataKeys,
      description:
        'Your own pairs of strings: 0 to 50 keys, not nested, at most 32,768 bytes of keys and values in ' +
        'UTF-8, without personally identifiable information.',
    },
  },
} as const;

export const errorRecordSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['category', 'code'],
  properties: {
    category: {
      type: 'string',
      enum: errorCategories,
      description: 'High-level reason. Some categories have no codes yet.',
    },
    code: { type: 'string', minLength: 1, description: 'Identifier of the kind of error.' },
    detail: { type: 'string', minLength: 1, description: 'What happened and what to do next.' },
    field: {
      type: 'string',
      minLength: 1,
      description: 'Request parameter that caused the error, in dot notation for objects and arrays.',
    },
  },
} as const;

export const nextCursor = text(lengths.cursor, 'Cursor of the next page. It is absent on the last page.');

export type Balance = XStatic<typeof balanceSchema>;
export type Brand = XStatic<typeof brandSchema>;
