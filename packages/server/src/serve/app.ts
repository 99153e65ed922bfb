import { readFileSync } from 'node:fs';
import type { Environment } from '@partner-network/contract/environments';
import { type Operation, openApiPath } from '@partner-network/contract/operations';
import { identify, requireValid } from '../auth/authenticate.ts';
import { requireScope } from '../auth/authorize.ts';
import { createKeyCache, type KeyCache } from '../auth/key-cache.ts';
import { type Cursors, firstPosition } from '../cursors/cursors.ts';
import type { Exchange, Route, Routes } from '../http/handle.ts';
import type { Overload } from '../http/overload/overload.ts';
import { legibleParameters, parseParameters } from '../http/parameters/parameters.ts';
import { admit } from '../http/rate-limit.ts';
import type { Limiter } from '../limiter/port.ts';
import { balances } from '../listings/balances.ts';
import { brands } from '../listings/brands.ts';
import type { Listing } from '../listings/listing.ts';
import type { Journal } from '../receipts/journal.ts';
import { type Access, receiptOf } from '../receipts/receipt.ts';
import { openApiRoute } from '../reference/openapi.ts';
import { referenceRoutes } from '../reference/routes.ts';
import type { Reads } from '../store/port.ts';

/** What the service is made of. It is built apart from listening, so that tests build the same one. */
export interface Parts {
  readonly environment: Environment;
  readonly store: Reads;
  readonly cursors: Cursors;
  /** A listing without a limiter is not limited. */
  readonly limiters: Readonly<Partial<Record<Operation['name'], Limiter>>>;
  readonly journal: Pick<Journal, 'add' | 'noteUse'>;
  /** Without it, a partner may take all that there is. */
  readonly overload?: Pick<Overload, 'withinShare'> | undefined;
  /** Asked when the first answer needs it: by then the service listens and knows its address. */
  readonly publicUrl: () => string;
  /** A public key of demo data, for whoever looks at the reference and has none yet. */
  readonly demoKey?: string | undefined;
  readonly nowMs: () => number;
}

const placeholderImage = readFileSync(new URL('../../assets/brand-placeholder.png', import.meta.url));

/** Every path of the public address. */
export function createApp(parts: Parts): Routes {
  const { environment, limiters, publicUrl } = parts;
  const keyCache = createKeyCache();
  const rates = { brands: limiters.brands?.ratePerSecond, balances: limiters.balances?.ratePerSecond };
  return new Map<string, Route>([
    [brands.operation.path, listingRoute(parts, keyCache, brands)],
    [balances.operation.path, listingRoute(parts, keyCache, balances)],
    [openApiPath, openApiRoute(environment, rates, publicUrl)],
    ['/assets/brand-placeholder.png', imageRoute],
    ...referenceRoutes(parts),
  ]);
}

/** The way of every listing request, top to bottom: who, may they, how often, what, and the page. */
function listingRoute<O extends Operation>(parts: Parts, keyCache: KeyCache, listing: Listing<O>): Route {
  const { environment, store, cursors, limiters, journal, overload, nowMs } = parts;
  const { operation } = listing;
  const limiter = limiters[operation.name];
  let publicAddress: string | undefined;
  const sources = {
    store,
    publicAddress: () => (publicAddress ??= JSON.stringify(parts.publicUrl()).slice(1, -1)),
    nowMs,
  };

  return async (exchange) => {
    exchange.operation = operation.id;
    const key = await identify(exchange.rawHeaders, store, keyCache, environment);
    // Logged also of a key that is refused from here on: who goes on using a leaked one can be traced.
    exchange.partnerId = key.partnerId;
    exchange.keyId = key.id;
    let granted: Access | undefined;
    if (listing.access !== undefined) {
      const asked = () => listing.access!(legibleParameters(operation, exchange.query));
      // From here on the answer leaves a receipt, whatever it will be.
      exchange.settle = (code) =>
        journal.add(receiptOf(exchange.requestId, key, granted ?? asked(), code, nowMs()));
    }
    requireValid(key, nowMs());
    journal.noteUse(key.id, nowMs());
    requireScope(key, operation.scope);
    await admit(limiter, operation.name, key.partnerId, exchange.headers);

    const parameters = parseParameters(operation, exchange.query);
    const filters = listing.filters(parameters);
    const scope = { endpoint: operation.id, partnerId: key.partnerId, filters };
    const cursor = parameters.cursor as string | undefined;
    const position = cursor === undefined ? firstPosition : cursors.open(scope, cursor);

    const page = () => listing.page(sources, key, parameters, position);
    const listed = overload === undefined ? page() : overload.withinShare(key.partnerId, page);
    const { records, bytes, next, walPosition = 0n, grantId } = await listed;
    if (listing.access !== undefined) granted = { ...listing.access(parameters), grantId };
    const ending =
      next === undefined ? '' : `,"cursor":"${cursors.seal(scope, { after: next, walPosition })}"`;
    exchange.headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store');
    // A byte that is none of UTF-8, which another tool may have stored, has become this one character.
    exchange.isAscii = bytes === records.length && !records.includes('\ufffd');
    return `{"${operation.name}":[${records}]${ending}}`;
  };
}

async function imageRoute({ headers }: Exchange): Promise<Buffer> {
  headers.push('Content-Type', 'image/png', 'Cache-Control', 'public, max-age=86400');
  return placeholderImage;
}
