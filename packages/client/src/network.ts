import { createList } from './listing.ts';
import { type CallOptions, checkOptions, type PartnerNetworkOptions } from './options.ts';
import type { PageList } from './page-list.ts';
import type { Balance, Brand, ListBalancesParams, ListBrandsParams } from './wire.ts';

/** What the service admits, by its contract, to which a test holds this; it counts each listing by itself. */
const brandsPerSecond = 50;
const unbounded = 0;

export interface BrandsPage {
  readonly brands: readonly Brand[];
  /** Absent on the last page. */
  readonly cursor?: string;
  /** The next page by the same parameters, or null after the last one. */
  next(): Promise<BrandsPage | null>;
}

export interface BalancesPage {
  readonly balances: readonly Balance[];
  /** Absent on the last page. */
  readonly cursor?: string;
  /** The next page by the same parameters, or null after the last one. */
  next(): Promise<BalancesPage | null>;
}

/**
 * A partner's way to the service. Make one and share it: its calls keep to the rate together.
 *
 * The key is kept where nothing that prints, copies or looks through this object comes upon it.
 */
export class PartnerNetwork {
  readonly brands: {
    /** Your brands, oldest first. */
    list(params?: ListBrandsParams, options?: CallOptions): PageList<BrandsPage, Brand>;
  };

  readonly balances: {
    /** The balances of a customer who gave you a grant. Beta: it may change. */
    list(params: ListBalancesParams, options?: CallOptions): PageList<BalancesPage, Balance>;
  };

  constructor(options: PartnerNetworkOptions) {
    const settings = checkOptions(options);
    const { maxRate } = settings;
    this.brands = { list: createList(settings, 'brands', maxRate ?? brandsPerSecond) };
    this.balances = { list: createList(settings, 'balances', maxRate ?? unbounded) };
  }
}
