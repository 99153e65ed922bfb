import { createList } from './listing.ts';
import { type CallOptions, checkOptions, type PartnerNetworkOptions } from './options.ts';
import type { PageList, PageOf } from './page-list.ts';
import type { Balance, Brand, ListBalancesParams, ListBrandsParams } from './wire.ts';

/** A page of brands. */
export interface BrandsPage extends PageOf<BrandsPage> {
  readonly brands: readonly Brand[];
}

/** A page of balances. */
export interface BalancesPage extends PageOf<BalancesPage> {
  readonly balances: readonly Balance[];
}

/**
 * A client of the service. Create one and share it: together, its calls keep to the rate limit.
 *
 * The key is not a property of this object, so that printing or copying the object does not reveal it.
 *
 * @example
 * ```ts
 * import { PartnerNetwork } from '@partner-network/client';
 *
 * // Reads PARTNER_NETWORK_API_KEY and PARTNER_NETWORK_BASE_URL.
 * const network = new PartnerNetwork();
 * const { brands } = await network.brands.list({ reference_id: 'shop-17' });
 * console.log(brands[0]?.name);
 * ```
 */
export class PartnerNetwork {
  readonly brands: {
    /**
     * Lists your brands, sorted by id. The key needs the scope `BRANDS_READ`.
     *
     * @example Every brand of every page
     * ```ts
     * let count = 0;
     * for await (const brand of network.brands.list({ limit: 100 })) {
     *   if (brand.color !== undefined) count += 1;
     * }
     * console.log(count > 0);
     * ```
     */
    list(params?: ListBrandsParams, options?: CallOptions): PageList<BrandsPage, Brand>;
  };

  readonly balances: {
    /**
     * Lists the balances of a customer who gave you a grant, sorted by id. The key needs the scope
     * `BALANCES_READ`. Beta: it may change.
     *
     * @example
     * ```ts
     * const { balances } = await network.balances.list({ customer_id: 'CUSTOMER_1003' });
     * for (const { amount, currency } of balances) console.log(amount, currency);
     * ```
     */
    list(params: ListBalancesParams, options?: CallOptions): PageList<BalancesPage, Balance>;
  };

  /** Throws a `PartnerNetworkError` if an option is missing, invalid or unknown. It sends no request. */
  constructor(options?: PartnerNetworkOptions) {
    const settings = checkOptions(options);
    const { maxRate } = settings;
    // The service's limits: 50 brand requests per second, and no limit for balances. A test compares them.
    this.brands = { list: createList(settings, 'brands', maxRate ?? 50) };
    this.balances = { list: createList(settings, 'balances', maxRate ?? 0, { type: 'CHECKING' }) };
  }
}
