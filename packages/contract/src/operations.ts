/** The two listings: where they are, what they need, what they take, in the order of the parameter tables. */
import { lengths, pageSize } from './limits.ts';
import { balanceSchema, brandSchema } from './records.ts';
import type { Scope } from './scopes.ts';

export const basePath = '/network/v1';

/** Where a sandbox of one's own is, unless it is told otherwise. The documents name it. */
export const sandboxOrigin = 'http://127.0.0.1:8080';
export const sandboxAddress = sandboxOrigin + basePath;

/** Where the OpenAPI document is. */
export const openApiPath = `${basePath}/openapi.json`;

export const allowedMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

type ParameterSchema =
  | {
      readonly type: 'string';
      readonly minLength?: number;
      readonly maxLength?: number;
      readonly enum?: readonly string[];
    }
  | {
      readonly type: 'integer';
      readonly minimum: number;
      readonly maximum: number;
      readonly default: number;
    };

export interface Parameter {
  readonly required: boolean;
  readonly description: string;
  /** What to do about an empty value, where that is not plain. */
  readonly whenEmpty?: string;
  readonly schema: ParameterSchema;
}

export interface Operation {
  readonly id: string;
  /** The plural under which the records stand in the answer; also the name of its rate-limit policy. */
  readonly name: 'balances' | 'brands';
  readonly path: string;
  readonly scope: Scope;
  readonly stability: 'stable' | 'beta';
  readonly parameters: Readonly<Record<string, Parameter>>;
}

const cursor = {
  required: false,
  description:
    'Cursor of the previous page; send it with the same other parameters to get the next set of results.',
  whenEmpty: 'an answer without a cursor is the last one, so stop there, or leave it out to start again',
  schema: { type: 'string', minLength: 1, maxLength: lengths.cursor },
} as const;

const limit = {
  required: false,
  description: 'Maximum number of records returned.',
  schema: {
    type: 'integer',
    minimum: pageSize.min,
    maximum: pageSize.max,
    default: pageSize.default,
  },
} as const;

export const listBalances = {
  id: 'listBalances',
  name: 'balances',
  path: `${basePath}/balances`,
  scope: 'BALANCES_READ',
  stability: 'beta',
  parameters: {
    customer_id: {
      required: true,
      description: 'Customer whose balances are listed.',
      schema: balanceSchema.properties.customer_id,
    },
    type: {
      required: true,
      description: 'Type of balances to list.',
      schema: balanceSchema.properties.type,
    },
    grant_id: {
      required: false,
      description:
        "Grant that authorizes reading the customer's balances. Without it, any active grant of yours for this customer will do.",
      schema: { type: 'string', minLength: 1, maxLength: lengths.grantId },
    },
    cursor,
    limit,
  },
} as const satisfies Operation;

export const listBrands = {
  id: 'listBrands',
  name: 'brands',
  path: `${basePath}/brands`,
  scope: 'BRANDS_READ',
  stability: 'stable',
  parameters: {
    cursor,
    limit,
    reference_id: {
      required: false,
      description: 'Restricts results to brands whose reference_id equals this value.',
      schema: brandSchema.properties.reference_id,
    },
  },
} as const satisfies Operation;

/** Both, in the order in which they are shown. */
export const operations: readonly Operation[] = [listBrands, listBalances];

/** What the sentences of the catalogue may say about a parameter. */
export function factsOf({ required, whenEmpty, schema }: Parameter): Record<string, string | number> {
  const remedy = whenEmpty ?? (required ? 'give it a value' : 'give it a value or leave it out');
  return schema.type === 'integer'
    ? { remedy, min: schema.minimum, max: schema.maximum }
    : { remedy, max: schema.maxLength ?? 0, allowed: schema.enum?.join(' or ') ?? '' };
}
