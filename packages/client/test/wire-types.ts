/**
 * Compares the client's types with the contract's data. The client's types are written by hand, because the
 * client has no dependencies. `npm run types` fails if either side gains, loses or changes a field.
 *
 * The comparison ignores `readonly`, which does not go over the wire. It treats `undefined` as absent: a
 * parameter that is undefined is not sent.
 */

import type * as contract from '@partner-network/contract/errors';
import type { ListingName, listBalances, listBrands, Parameter } from '@partner-network/contract/operations';
import type {
  balanceSchema,
  brandSchema,
  errorRecordSchema,
  nextCursor,
} from '@partner-network/contract/records';
import type { XStatic } from 'typebox/schema';
import type {
  Balance,
  BalancesPage,
  Brand,
  BrandsPage,
  ErrorCategory,
  ErrorCode,
  ErrorRecord,
  ListBalancesParams,
  ListBrandsParams,
  PartnerNetwork,
} from '../src/index.ts';

/** True only for identical types. Types with different optional fields can be assignable both ways. */
type Same<A, B> =
  (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : false;

/** The same type as one object: neither readonly nor an intersection, at any depth. */
type Plain<T> = T extends string | number
  ? T
  : T extends (...values: infer Values) => infer Result
    ? (...values: Values) => Result
    : { -readonly [Key in keyof T]: Plain<T[Key]> };

/** The parameters of an operation as a client passes them, made from the contract's data. */
type Given<Parameters extends Readonly<Record<string, Parameter>>> = {
  [Name in keyof Parameters as Parameters[Name]['required'] extends true ? Name : never]: XStatic<
    Parameters[Name]['schema']
  >;
} & {
  [Name in keyof Parameters as Parameters[Name]['required'] extends true ? never : Name]?: XStatic<
    Parameters[Name]['schema']
  >;
};

type CursorOfPage = { cursor?: XStatic<typeof nextCursor> };

type Holds<_Claim extends true> = never;

export type Claims = [
  // Every listing of the contract is in the client.
  Holds<Same<Exclude<ListingName, keyof PartnerNetwork>, never>>,
  Holds<Same<Brand, XStatic<typeof brandSchema>>>,
  Holds<Same<Balance, XStatic<typeof balanceSchema>>>,
  Holds<Same<Omit<BrandsPage, 'next'>, CursorOfPage & { brands: Brand[] }>>,
  Holds<Same<Omit<BalancesPage, 'next'>, CursorOfPage & { balances: Balance[] }>>,
  Holds<Same<ListBrandsParams, Given<typeof listBrands.parameters>>>,
  // The client sends the only type if none is given.
  Holds<Same<ListBalancesParams & { type: 'CHECKING' }, Given<typeof listBalances.parameters>>>,
  Holds<Same<Parameters<PartnerNetwork['brands']['list']>[0], ListBrandsParams | undefined>>,
  Holds<Same<Parameters<PartnerNetwork['balances']['list']>[0], ListBalancesParams>>,
  Holds<Same<ErrorCategory, (typeof contract.errorCategories)[number]>>,
  // If this line fails, add the code to `ErrorCode` in packages/client/src/wire.ts.
  Holds<Same<ErrorCode, contract.ErrorCode>>,
  // A newer service may know more codes than the client, so a record's code is any string.
  Holds<Same<Omit<ErrorRecord, 'code'>, Omit<XStatic<typeof errorRecordSchema>, 'code'>>>,
  Holds<Same<ErrorRecord['code'], ErrorCode | (string & {})>>,
];

/** Proof that the comparison finds differences. */
export type Differences = [
  // @ts-expect-error an additional optional field
  Holds<Same<{ a: string; b?: string }, { a: string }>>,
  // @ts-expect-error optional instead of required
  Holds<Same<{ a?: string }, { a: string }>>,
  // @ts-expect-error another type
  Holds<Same<{ a: string }, { a: number }>>,
  // @ts-expect-error deep in an array
  Holds<Same<{ a: { b: string }[] }, { a: { b?: string }[] }>>,
  // @ts-expect-error any
  Holds<Same<{ a: string }, { a: ReturnType<JSON['parse']> }>>,
  // @ts-expect-error a missing value of a union
  Holds<Same<'USD' | 'EUR', 'USD'>>,
];
