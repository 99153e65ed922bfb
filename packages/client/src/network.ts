import { type Answer, attemptOnce, type Bounds, type Line, type Request } from './attempt.ts';
import { PartnerNetworkError } from './errors.ts';
import {
  type CallOptions,
  checkBaseUrl,
  checkKey,
  checkRate,
  checkRetries,
  checkTimeout,
  type PartnerNetworkOptions,
} from './options.ts';
import { createPace, type Pace } from './pace.ts';
import { createPageList, type PageList } from './page-list.ts';
import { withRetries } from './retry.ts';
import { follow, noTrail, type Trail } from './trail.ts';
import type { Balance, Brand, ListBalancesParams, ListBrandsParams } from './wire.ts';

const defaults = { timeoutMs: 10_000, maxRetries: 3, brandsPerSecond: 50 } as const;

export interface BrandsPage {
  readonly brands: readonly Brand[];
  /** Absent on the last page. */
  readonly cursor?: string;
  /** The next page, or null after the last one. */
  next(): Promise<BrandsPage | null>;
}

export interface BalancesPage {
  readonly balances: readonly Balance[];
  /** Absent on the last page. */
  readonly cursor?: string;
  /** The next page, or null after the last one. */
  next(): Promise<BalancesPage | null>;
}

type Params = Readonly<Record<string, unknown>>;

type Ask = (params: Params) => Promise<Answer>;

/**
 * A partner's way to the service.
 *
 * The key is kept where nothing that prints, copies or walks through this object can come upon it.
 */
export class PartnerNetwork {
  readonly brands: {
    /** Your brands, oldest first. */
    list(params?: ListBrandsParams, options?: CallOptions): PageList<BrandsPage, Brand>;
  };

  readonly balances: {
    /** Balances of a customer who gave you a grant. Beta: it may change. */
    list(params: ListBalancesParams, options?: CallOptions): PageList<BalancesPage, Balance>;
  };

  constructor(options: PartnerNetworkOptions) {
    const { timeoutMs = defaults.timeoutMs, maxRetries = defaults.maxRetries } = options;
    const rate = checkRate(options.maxRate ?? defaults.brandsPerSecond);
    const line: Line = {
      apiKey: checkKey(options.apiKey),
      baseUrl: checkBaseUrl(options.baseUrl),
      // Looked up late, so that what replaces it after this, as tests do, is used.
      fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
      onRequest: options.onRequest,
      onResponse: options.onResponse,
    };
    checkTimeout(timeoutMs);
    checkRetries(maxRetries);

    function askFor(name: string, pace: Pace | undefined, call: CallOptions): Ask {
      const bounds = { signal: call.signal, timeoutMs: checkTimeout(call.timeoutMs ?? timeoutMs) };
      const retries = checkRetries(call.maxRetries ?? maxRetries);
      return (params) => {
        const url = `${line.baseUrl}/${name}${queryOf(params)}`;
        return withRetries(retries, bounds.signal, (attempt) =>
          paced(pace, line, { name, url, attempt }, bounds),
        );
      };
    }

    const brandsPace = rate === 0 ? undefined : createPace(rate);
    this.brands = {
      list: (params = {}, call = {}) => {
        const ask = askFor('brands', brandsPace, call);
        return createPageList(
          () => askPage<BrandsPage>('brands', ask, { ...params }),
          ({ brands }) => brands,
        );
      },
    };
    this.balances = {
      list: (params, call = {}) => {
        const ask = askFor('balances', undefined, call);
        return createPageList(
          () => askPage<BalancesPage>('balances', ask, { ...params }),
          ({ balances }) => balances,
        );
      },
    };
  }
}

async function paced(pace: Pace | undefined, line: Line, request: Request, bounds: Bounds): Promise<Answer> {
  const release = await pace?.take(bounds.signal);
  try {
    return await attemptOnce(line, request, bounds);
  } finally {
    release?.();
  }
}

/** A page and the way to the next one, which the cursor alone decides on: a page may be empty. */
async function askPage<Page extends { next(): Promise<Page | null> }>(
  name: string,
  ask: Ask,
  params: Params,
  trail: Trail = startOf(params),
): Promise<Page> {
  const { items, cursor } = await ask(params);
  if (!cursor) return { [name]: items, next: async () => null } as unknown as Page;
  const longer = follow(trail, cursor);
  if (longer === null) {
    throw new PartnerNetworkError(`The service gave a cursor of ${name} twice, so the walk would never end.`);
  }
  const next = () => askPage<Page>(name, ask, { ...params, cursor }, longer);
  return { [name]: items, cursor, next } as unknown as Page;
}

function startOf({ cursor }: Params): Trail {
  return typeof cursor === 'string' ? follow(noTrail, cursor)! : noTrail;
}

function queryOf(params: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  const text = String(query);
  return text === '' ? '' : `?${text}`;
}
