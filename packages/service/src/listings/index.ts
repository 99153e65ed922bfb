/** The table of all listings. A listing of the contract that is missing here does not compile. */
import type { ListingName, operationByName } from '@partner-network/contract/operations';
import { balances } from './balances.ts';
import { brands } from './brands.ts';
import type { Listing } from './listing.ts';

const byName: { readonly [Name in ListingName]: Listing<(typeof operationByName)[Name]> } = {
  brands,
  balances,
};

export const listings: readonly Listing[] = Object.values(byName);
