/** The pipeline of a listing: authenticate, scope, rate limit, parameters, cursor, grant, query, respond. */
import type { Environment } from '@partner-network/contract/environments';
import { type ListingName, parametersBoundToCursor } from '@partner-network/contract/operations';
import type { Exchange, Route } from '@partner-network/http/handle';
import type { Overload } from '@partner-network/http/overload';
import { parseParameters, validParameters } from '@partner-network/http/request';
import type { Reads } from '@partner-network/store/port';
import { identify, type KeyCache, requireScope, requireValid } from '../auth.ts';
import { type Cursors, firstPosition } from '../cursors.ts';
import { admit, createMemoryLimiter, type Limiter } from '../limiter/rate-limit.ts';
import type { Listing } from '../listings.ts';
import { type Journal, receiptOf } from '../receipts.ts';

export interface PipelineParts {
  readonly environment: Environment;
  readonly store: Reads;
  readonly cursors: Cursors;
  /** A listing without a limiter is not limited. */
  readonly limiters: Readonly<Partial<Record<ListingName, Limiter>>>;
  readonly journal: Pick<Journal, 'add' | 'count' | 'noteUse'>;
  /** Without it, one partner may use all database connections. */
  readonly overload?: Pick<Overload, 'withinShare'> | undefined;
  /** A function, because the service's own port is known only once it listens. */
  readonly publicUrl: () => string;
  readonly nowMs: () => number;
}

export function listingRoute(parts: PipelineParts, keyCache: KeyCache, listing: Listing): Route {
  const { environment, store, cursors, limiters, journal, overload, nowMs } = parts;
  const { operation, access: accessOf } = listing;
  const limiter = limiters[operation.name];
  /** Counts the admissions of partners without a limit. */
  const unlimited = createMemoryLimiter(0);
  const boundNames = parametersBoundToCursor(operation);
  let publicAddress: string | undefined;
  const sources = {
    store,
    publicAddress: () => (publicAddress ??= JSON.stringify(parts.publicUrl()).slice(1, -1)),
    nowMs,
  };

  async function answer(exchange: Exchange): Promise<string> {
    exchange.operation = operation.id;
    const key = await identify(exchange.rawHeaders, store, keyCache, environment);
    // Also for a key that is refused below, so that the use of a leaked key can be traced.
    exchange.key = key;
    requireValid(key, nowMs());
    journal.noteUse(key.id, nowMs());
    requireScope(key, operation.permission);
    const admitted = await admit(limiter, operation.name, key, exchange.headers);
    exchange.admitted = admitted ?? unlimited.admit(key.partnerId, Number.POSITIVE_INFINITY).admitted;

    const parameters = parseParameters(operation, exchange.query);
    const filters = boundNames.map((name) => parameters[name]);
    // Absent filters at the end are not sealed, so that cursors survive the addition of an optional one.
    while (filters.length > 1 && filters.at(-1) === undefined) filters.pop();
    const scope = { endpoint: operation.id, partnerId: key.partnerId, filters };
    const cursor = parameters.cursor as string | undefined;
    const position = cursor === undefined ? firstPosition : cursors.open(scope, cursor);

    // The store checks the grant and reads the page of one snapshot.
    const query = () => listing.page(sources, key, parameters, position);
    const page = await (overload === undefined ? query() : overload.withinShare(key.partnerId, query));
    if (accessOf !== undefined) exchange.access = { ...accessOf(parameters), grantId: page.grantId };

    const { records, bytes, next, walPosition = 0n } = page;
    const ending =
      next === undefined ? '' : `,"cursor":"${cursors.seal(scope, { after: next, walPosition })}"`;
    exchange.headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store');
    // Invalid UTF-8 that another tool stored has become U+FFFD, so the byte count alone does not prove ASCII.
    exchange.isAscii = bytes === records.length && !records.includes('\ufffd');
    return `{"${operation.name}":[${records}]${ending}}`;
  }

  /** Counts a sent response if a key was found. Listings of customers leave a receipt, and so do refusals. */
  function sent(exchange: Exchange, outcome: string | undefined): void {
    const { query, key, access, admitted, startedMs } = exchange;
    if (key?.partnerId === undefined) return;
    const used = { id: key.id, partnerId: key.partnerId };
    const now = nowMs();
    const ms = performance.now() - startedMs;
    const mayLeaveReceipt = journal.count(used, operation.id, outcome, now, { admitted, ms });
    // A receipt takes 4 µs, and a flood of refusals must not cost more than its answers.
    if (accessOf === undefined && (outcome === undefined || !mayLeaveReceipt)) return;
    // A refusal has the grant that the request named, even if a rehearsal refuses what was granted.
    const named = outcome === undefined ? access : accessOf?.(validParameters(operation, query));
    journal.add(receiptOf(exchange, used, named ?? {}, outcome, now));
  }

  return { answer, sent };
}
