import { createList } from './listing.ts';
import { type CallOptions, checkOptions, type PartnerNetworkOptions } from './options.ts';
import type { PageList, PageOf } from './page-list.ts';
import type { Balance, Brand, ListBalancesParams, ListBrandsParams } from './wire.ts';

/** The service's rate limits, per listing; a test compares them with the contract. */
const brandsPerSecond = 50;
const unbounded = 0;

export interface BrandsPage extends PageOf<BrandsPage> {
  readonly brands: readonly Brand[];
}

export interface BalancesPage extends PageOf<BalancesPage> {
  readonly balances: readonly Balance[];
}

/**
 * A client of the service. Create one and share it: its calls keep the rate limit together.
 *
 * The key is not a property of this object, so that printing or copying the object does not reveal it.
 */
export class PartnerNetwork {
  readonly brands: {
    /** Lists your brands, in the order of their ids. */
    list(params?: ListBrandsParams, options?: CallOptions): PageList<BrandsPage, Brand>;
  };

  readonly balances: {
    /** Lists the balances of a customer who gave you a grant. Beta: it may change. */
    list(params: ListBalancesParams, options?: CallOptions): PageList<BalancesPage, Balance>;
  };

  constructor(options: PartnerNetworkOptions) {
    const settings = checkOptions(options);
    const { maxRate } = settings;
    this.brands = { list: createList(settings, 'brands', maxRate ?? brandsPerSecond) };
    this.balances = { list: createList(settings, 'balances', maxRate ?? unbounded) };
  }
}
