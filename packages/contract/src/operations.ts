/** The form of an operation of either API, and the listings for partners. */
import { brandsPerSecond, lengths, pageSize } from './limits.ts';
import type { AdminRole, Scope } from './permissions.ts';
import { balanceSchema, brandSchema, type RecordSchema } from './records.ts';

export const basePath = '/network/v1';

/** The version of the API, not of a release. Raise it with every change of the OpenAPI document. */
export const apiVersion = '1.0.2';

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

export type Parameters = Readonly<Record<string, Parameter>>;

/** What an answer holds: one record in a field, a list of records with a cursor, or the record itself. */
export type Result<RecordName = string> =
  | { readonly one: string; readonly of: RecordName; readonly secret?: string }
  | { readonly list: string; readonly of: RecordName; readonly isPaged: boolean }
  | { readonly of: RecordName };

/** An operation of either API. Routes, checks, the OpenAPI documents and the references are made from it. */
export interface Operation<Permission = Scope | AdminRole, RecordName = string> {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** A name in braces is a parameter, percent-encoded in a request. */
  readonly path: string;
  /** The scope that a key needs, or the least role. */
  readonly permission: Permission;
  /** The group in which the reference shows it. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** The parameters of the path, and the most characters of each. */
  readonly pathParameters?: Readonly<Record<string, number>>;
  readonly parameters: Parameters;
  /** The forms of the JSON body. The first form whose required fields are given is checked. */
  readonly bodies?: readonly RecordSchema[];
  /** Whether the body may be left out. */
  readonly isBodyOptional?: boolean;
  /** The body of a batch, as OpenAPI describes it. */
  readonly batchBody?: object;
  readonly result: Result<RecordName>;
  /** Statuses of success, if they are not 200 alone. */
  readonly statuses?: readonly number[];
  /** Statuses of errors. */
  readonly errors: readonly number[];
}

/** The records' name in the plural: the field of the response that holds them, and the rate-limit policy. */
export type ListingName = 'brands' | 'balances';

/** An operation that partners use. */
export interface ListingOperation<Name extends ListingName = ListingName> extends Operation<Scope> {
  readonly id: `list${Capitalize<Name>}`;
  readonly name: Name;
  readonly stability: 'stable' | 'beta';
  /** Requests per second of one partner, unless the operator sets another rate; 0 is unlimited. */
  readonly defaultRate: number;
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

const listing = { method: 'GET', errors: [400, 401, 403, 404, 405, 408, 429, 431, 500, 503] } as const;

export const listBalances = {
  ...listing,
  id: 'listBalances',
  name: 'balances',
  path: `${basePath}/balances`,
  permission: 'BALANCES_READ',
  stability: 'beta',
  defaultRate: 0,
  tag: 'Balances',
  summary: 'List balances',
  description:
    "Lists a customer's balances in ascending order of `id`. A grant from the customer authorizes this. " +
    'Send its `grant_id`, or leave it out to use any active grant from this customer to you. The grant ' +
    'is checked on every page. This operation is beta: it may change without a new version.',
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
  result: { list: 'balances', of: 'Balance', isPaged: true },
} as const satisfies ListingOperation<'balances'>;

export const listBrands = {
  ...listing,
  id: 'listBrands',
  name: 'brands',
  path: `${basePath}/brands`,
  permission: 'BRANDS_READ',
  stability: 'stable',
  defaultRate: brandsPerSecond,
  tag: 'Brands',
  summary: 'List brands',
  description: 'Lists your brands in ascending order of `id`.',
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
  result: { list: 'brands', of: 'Brand', isPaged: true },
} as const satisfies ListingOperation<'brands'>;

/** All listings, in the order in which the documents show them. */
export const listingByName = { brands: listBrands, balances: listBalances } as const satisfies {
  readonly [Name in ListingName]: ListingOperation<Name>;
};

export const listings: readonly ListingOperation[] = Object.values(listingByName);

/** The parameters that a cursor is sealed with: all parameters that the contract does not mark as free. */
export function parametersBoundToCursor({ parameters }: Pick<Operation, 'parameters'>): string[] {
  return Object.keys(parameters).filter((name) => parameters[name]?.isBoundToCursor !== false);
}

/** The parameters that select records: all but those of paging. */
export function filtersOf({ parameters }: Pick<Operation, 'parameters'>): string[] {
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
