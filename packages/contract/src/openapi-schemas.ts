/** The records as the OpenAPI document shows them, with what holds for all that is sent. */
import type { Environment } from './environments.ts';
import { errorCatalogue } from './errors.ts';
import { echoedCharacters, errorsOfAnswer, lengths, pageSize } from './limits.ts';
import type { Operation } from './operations.ts';
import {
  balanceSchema,
  balancesPageSchema,
  brandSchema,
  brandsPageSchema,
  errorBodySchema,
  errorRecordSchema,
  type FieldSchema,
  type RecordSchema,
} from './records.ts';

/** Strings hold no control characters: they are refused at the door. */
const cleanText = '^[^\\x00-\\x1f\\x7f]*$';

/** A cursor is base64url, without padding. */
export const cursorText = '^[A-Za-z0-9_-]+$';

/** Times have milliseconds and `Z`, always. */
const sentTime = '2025-01-06T09:01:00.000Z'.length;
const timeText = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$';

const addressText = '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#]\\S*$';

const exampleCursor =
  'AfD5TgmJOnp1QN8iRH4Qwyi6EjZbylHRpo9XPnMqeNRF7pjmUHlKGv_hUpK_GTG_xVR6xs6-TDFJG-Xd---GEG_X7XDTM0rqsbYYsA';

export interface Place {
  readonly environment: Environment;
  readonly publicUrl: string;
}

/** Where and how a service is set up, for examples that are true of it. */
export interface Setting extends Place {
  /** A listing that is limited, and its requests a second, as the headers and the 429 tell of them. */
  readonly listing: Operation['name'];
  readonly rate: number;
}

/** Like all the examples it is of the sandbox's demo data, so that who reads of it can get it. */
const exampleBrand = {
  id: 'BRAND_01943f5a256000005a881cd424e42a85',
  name: 'Golden Creamery',
  created_at: '2025-01-07T06:01:00.000Z',
  updated_at: '2025-01-18T01:01:00.000Z',
  reference_id: 'shop-4',
  color: '#14AA18',
  profile_image_url: 'https://images.example.com/logos/golden-creamery.png',
  metadata: { category: 'food', region: 'us-west' },
};

const exampleBrands = (publicUrl: string) => [
  exampleBrand,
  {
    id: 'BRAND_019440daaae000004ffd020f5bd14dcc',
    name: 'Golden Greens',
    created_at: '2025-01-07T13:01:00.000Z',
    updated_at: '2025-01-27T09:01:00.000Z',
    reference_id: 'shop-5',
    color: '#2684E4',
    profile_image_url: `${publicUrl}/assets/brand-placeholder.png`,
  },
];

const exampleBalances = [
  {
    id: 'BAL_01943ad7aa800000358e8a0838a3235f',
    customer_id: 'CUSTOMER_1001',
    type: 'CHECKING',
    currency: 'USD',
    amount: 125_050,
    created_at: '2025-01-06T09:00:00.000Z',
    updated_at: '2025-02-05T09:00:00.000Z',
  },
  {
    id: 'BAL_01943b0e990000000833b9d1aa32d1ff',
    customer_id: 'CUSTOMER_1001',
    type: 'CHECKING',
    currency: 'USD',
    amount: 9_999,
    created_at: '2025-01-06T10:00:00.000Z',
    updated_at: '2025-02-05T10:00:00.000Z',
  },
];

/** What the two answers look like: in the middle of a walk, and at its end. */
export const pageExamples = ({ publicUrl }: Place) => ({
  brands: {
    'more-to-come': {
      summary: 'A page with a cursor: send it back to get the next one.',
      value: { brands: exampleBrands(publicUrl), cursor: exampleCursor },
    },
    'last-page': {
      summary: 'Without a cursor, this is the last page.',
      value: { brands: exampleBrands(publicUrl).slice(1) },
    },
  },
  balances: {
    'more-to-come': {
      summary: 'A page with a cursor: send it back to get the next one.',
      value: { balances: exampleBalances.slice(0, 1), cursor: exampleCursor },
    },
    'last-page': {
      summary: 'Without a cursor, this is the last page.',
      value: { balances: exampleBalances.slice(1) },
    },
    'no-balances': {
      summary: 'The customer granted it, but has no balances.',
      value: { balances: [] },
    },
  },
});

/** A schema with all that is true of its values on the wire, also where an import is not as strict. */
export function asSent(schema: FieldSchema): FieldSchema {
  if (schema.type === 'integer')
    return { ...schema, format: (schema.maximum ?? 0) < 2 ** 31 ? 'int32' : 'int64' };
  if (schema.type !== 'string' || schema.enum !== undefined) return schema;
  if (schema.format === 'date-time')
    return { ...schema, minLength: sentTime, maxLength: sentTime, pattern: timeText };
  if (schema.format === 'uri') {
    // Addresses are sent as they were imported, also with what only browsers take for a URI.
    const { format: _, ...address } = schema;
    return { ...address, pattern: addressText };
  }
  return { ...schema, pattern: schema.pattern ?? cleanText };
}

/**
 * Open to fields that do not exist yet: a new optional field must not break a client that was generated
 * before it. The tests take the document at its word for what exists today, and refuse any other field.
 */
function record(
  name: string,
  description: string,
  { required, properties }: RecordSchema,
  example: Readonly<Record<string, unknown>>,
  own: Readonly<Record<string, object>> = {},
): object {
  const fields = Object.entries(properties).map(([field, schema]) => {
    const shown = { ...asSent(schema), ...own[field] };
    return [field, field in example ? { ...shown, examples: [example[field]] } : shown];
  });
  return { title: name, type: 'object', description, required, properties: Object.fromEntries(fields) };
}

function list(name: string, description: string, maxItems: number, bounds: object = {}): object {
  return { type: 'array', description, ...bounds, maxItems, items: { $ref: `#/components/schemas/${name}` } };
}

function page(
  name: 'Brand' | 'Balance',
  schema: typeof brandsPageSchema | typeof balancesPageSchema,
): object {
  const plural = schema.required[0];
  const { cursor } = schema.properties;
  return {
    title: `${name}sPage`,
    type: 'object',
    description: `A page of ${plural}, in ascending order of id.`,
    required: schema.required,
    properties: {
      [plural]: list(name, `The ${plural} that match the query.`, pageSize.max),
      cursor: { ...cursor, pattern: cursorText, examples: [exampleCursor] },
    },
  };
}

const codes = Object.keys(errorCatalogue);

/** What only the document says of a field. */
const ownOfBrand = {
  color: { minLength: '#000000'.length, maxLength: '#000000'.length },
  metadata: {
    propertyNames: { pattern: cleanText },
    additionalProperties: { type: 'string', maxLength: lengths.metadataValue, pattern: cleanText },
  },
};

/**
 * A code is an open string, as the specification has it, and not an enum: a client generated from an enum
 * fails on the day that a code is added. The ones that exist are told by `x-extensible-enum`.
 */
const ownOfError = {
  category: { examples: ['INVALID_REQUEST_ERROR'] },
  code: {
    maxLength: lengths.errorCode,
    pattern: '^[A-Z][A-Z0-9_]*$',
    description:
      'Identifier of the specific kind of error. More of them may be added: treat one that you do not know ' +
      'by its category and the status of the answer.',
    'x-extensible-enum': codes,
  },
  detail: { maxLength: lengths.errorDetail },
  field: { maxLength: echoedCharacters },
};

export const schemas = {
  Brand: record(
    'Brand',
    'A brand: the entity that a customer perceives they are transacting with.',
    brandSchema,
    exampleBrand,
    ownOfBrand,
  ),
  Balance: record('Balance', "A balance of a customer's.", balanceSchema, exampleBalances[0]!),
  BrandsPage: page('Brand', brandsPageSchema),
  BalancesPage: page('Balance', balancesPageSchema),
  Error: record(
    'Error',
    'One thing that is wrong with a request, or with us.',
    errorRecordSchema,
    {
      code: 'VALUE_TOO_HIGH',
      detail: 'Lower limit to at most 100, and follow the cursor for the rest.',
      field: 'limit',
    },
    ownOfError,
  ),
  ErrorBody: {
    title: 'ErrorBody',
    type: 'object',
    description: 'The body of every answer that is not a 2xx.',
    required: errorBodySchema.required,
    properties: {
      errors: list('Error', 'All that is wrong, one error a parameter.', errorsOfAnswer, { minItems: 1 }),
    },
  },
};
