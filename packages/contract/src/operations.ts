/** The listings: path, scope, default rate and parameters, in the order of the specification's tables. */
import { brandsPerSecond, lengths, pageSize } from './limits.ts';
import type { Scope } from './permissions.ts';
import { balanceSchema, brandSchema } from './records.ts';

export const basePath = '/network/v1';

/** The version of the API, not of a release. Raise it with every change of the OpenAPI document. */
export const apiVersion = '1.0.1';

/** The default address of a sandbox. The documents name it. */
export const sandboxOrigin = 'http://127.0.0.1:8080';
export const sandboxAddress = sandboxOrigin + basePath;

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
  /** What the error says to do about an empty value, if "set it to a value" is not enough. */
  readonly whenEmpty?: string;
  /** False: may change between the pages of a walk. Any other parameter must keep its value. */
  readonly isBoundToCursor?: false;
  readonly schema: ParameterSchema;
  /** A value that works in the sandbox. A cursor has none: it belongs to one partner. */
  readonly example: string | number | undefined;
}

/** The records' name in the plural: the field of the response that holds them, and the rate-limit policy. */
export type ListingName = 'brands' | 'balances';

export interface Operation<Name extends ListingName = ListingName> {
  readonly id: `list${Capitalize<Name>}`;
  readonly name: Name;
  readonly path: string;
  readonly scope: Scope;
  readonly stability: 'stable' | 'beta';
  /** Requests per second of one partner, unless the operator sets another rate; 0 is unlimited. */
  readonly defaultRate: number;
  readonly parameters: Readonly<Record<string, Parameter>>;
}

export const cursorParameter = {
  required: false,
  description:
    'Cursor from the previous page of this operation. Send it with the same other parameters to get the next page.',
  whenEmpty: 'stop after a page without a cursor, or leave cursor out to start again',
  isBoundToCursor: false,
  schema: { type: 'string', minLength: 1, maxLength: lengths.cursor },
  example: undefined,
} as const;

export const limitParameter = {
  required: false,
  description: 'Maximum number of records on the page.',
  isBoundToCursor: false,
  schema: {
    type: 'integer',
    minimum: pageSize.min,
    maximum: pageSize.max,
    default: pageSize.default,
  },
  example: 50,
} as const;

export const listBalances = {
  id: 'listBalances',
  name: 'balances',
  path: `${basePath}/balances`,
  scope: 'BALANCES_READ',
  stability: 'beta',
  defaultRate: 0,
  parameters: {
    customer_id: {
      required: true,
      description: 'Customer whose balances are listed.',
      schema: balanceSchema.properties.customer_id,
      example: 'CUSTOMER_1001',
    },
    type: {
      required: true,
      description: 'Type of the balances to list.',
      schema: balanceSchema.properties.type,
      example: 'CHECKING',
    },
    grant_id: {
      required: false,
      description:
        "Grant that authorizes reading the customer's balances. If it is absent, any active grant from this customer to you is used.",
      isBoundToCursor: false,
      schema: { type: 'string', minLength: 1, maxLength: lengths.grantId },
      example: 'GRANT_1001',
    },
    cursor: cursorParameter,
    limit: limitParameter,
  },
} as const satisfies Operation<'balances'>;

export const listBrands = {
  id: 'listBrands',
  name: 'brands',
  path: `${basePath}/brands`,
  scope: 'BRANDS_READ',
  stability: 'stable',
  defaultRate: brandsPerSecond,
  parameters: {
    cursor: cursorParameter,
    limit: limitParameter,
    reference_id: {
      required: false,
      description: 'Lists only brands whose `reference_id` equals this value.',
      schema: brandSchema.properties.reference_id,
      example: 'shop-17',
    },
  },
} as const satisfies Operation<'brands'>;

/** All listings, in the order in which the documents show them. */
export const operationByName = { brands: listBrands, balances: listBalances } as const satisfies {
  readonly [Name in ListingName]: Operation<Name>;
};

export const operations: readonly Operation[] = Object.values(operationByName);

/** The parameters that a cursor is sealed with: all parameters that the contract does not mark as free. */
export function parametersBoundToCursor({ parameters }: Operation): string[] {
  return Object.keys(parameters).filter((name) => parameters[name]?.isBoundToCursor !== false);
}

/** The parameters that select records: all but those of paging. */
export function filtersOf({ parameters }: Operation): string[] {
  return Object.keys(parameters).filter((name) => name !== 'cursor' && name !== 'limit');
}

/** The values that fill in an error sentence about a parameter. */
export function factsOf({ required, whenEmpty, schema }: Parameter): Record<string, string | number> {
  const remedy = whenEmpty ?? (required ? 'set it to a value' : 'set it to a value or leave it out');
  return schema.type === 'integer'
    ? { remedy, min: schema.minimum, max: schema.maximum }
    : { remedy, max: schema.maxLength ?? 0, allowed: schema.enum?.join(' or ') ?? '' };
}

/** How the error about an unknown parameter continues if a known name is close to it. */
export const renamingTo = (name: string) => `, or rename it to ${name}`;
