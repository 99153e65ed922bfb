/**
 * Rehearsals: under /rehearsals/SCENARIO.RUN a sandbox answers as it does under /network/v1, except for the
 * faults of the scenario. It judges what the client does about them.
 */
import { type ListingName, operations } from '@partner-network/contract/operations';
import type { Logger } from 'pino';
import { identify, requireValid } from '../auth/authenticate.ts';
import { createKeyCache } from '../auth/key-cache.ts';
import { httpBounds } from '../bounds/http.ts';
import { answer, type ResponseHead, type Route, type Routes } from '../http/handle.ts';
import { isWithinBounds, type RequestHead, splitTarget } from '../http/request.ts';
import type { Answer } from '../http/server/server.ts';
import { maskKeys } from '../lib/text.ts';
import { within } from '../lib/timeout.ts';
import type { Reads } from '../store/port.ts';
import { type RehearsalsBounds, rehearsalsBounds } from './bounds.ts';
import { createCuts } from './cuts.ts';
import { faultOf, type Response, shortened } from './faults.ts';
import type { SeenRequest } from './judge.ts';
import { keysIn } from './keys.ts';
import { json, type RehearsalPath, RehearsedRoutes, rehearsalPath, verdictOf } from './routes.ts';
import { createRuns, digestOf, type Run } from './runs.ts';
import { createWatchedOrigin } from './watched-origin.ts';

interface Parts {
  readonly environment: 'sandbox';
  readonly store: Pick<Reads, 'findKey'>;
  readonly nowMs: () => number;
}

export type Rehearsals = ReturnType<typeof createRehearsals>;

export function createRehearsals(parts: Parts, log: Logger, bounds: RehearsalsBounds = rehearsalsBounds) {
  const { environment, store, nowMs } = parts;
  const keyCache = createKeyCache();
  const keyOf = (rawHeaders: readonly string[]) => identify(rawHeaders, store, keyCache, environment);
  const runs = createRuns(bounds, nowMs);
  const cuts = createCuts(bounds);
  const watched = createWatchedOrigin(log, ({ url = '', method = '', rawHeaders }, origin) => {
    const watchId = url.split('/')[1]!;
    const run = runs.findWatched(watchId);
    if (run === undefined) return;
    const { inAuthorization, elsewhere } = keysIn(url, rawHeaders);
    if (inAuthorization.length + elsewhere.length > 0) {
      run.judge.breaks('kept-its-key', 'The client sent its key to the other address of the redirect.');
    }
    runs.add(run, method, origin + url.slice(1 + watchId.length), performance.now()).status = 404;
  });

  /** The partner of the first known key, wherever it is in the request. */
  async function findSender({ url = '', rawHeaders }: RequestHead) {
    const { inAuthorization, elsewhere } = keysIn(url, rawHeaders);
    for (const text of [...inAuthorization, ...elsewhere].slice(0, bounds.keysTried)) {
      const key = await keyOf(['Authorization', `Bearer ${text}`]).catch(() => undefined);
      if (key !== undefined) return { partnerId: key.partnerId, hasKeyElsewhere: elsewhere.length > 0 };
    }
    return undefined;
  }

  const verdictRoute =
    (path: RehearsalPath): Route =>
    async (exchange) => {
      const key = await keyOf(exchange.rawHeaders);
      exchange.partnerId = key.partnerId;
      exchange.keyId = key.id;
      requireValid(key, nowMs());
      return json(exchange, verdictOf(path, runs.find(key.partnerId, path.scenario, path.name)));
    };

  /** The fault in place of a page, if one is due. */
  async function faultIn(run: Run, seen: SeenRequest, path: RehearsalPath, query: string, usual: Response) {
    const { scenario, name, rest } = path;
    run.pages += 1;
    const isThird = seen.cursor !== undefined && seen.cursor === run.thirdCursor;
    const next = nextCursor(usual);
    if (seen.cursor !== undefined) run.thirdCursor = next && digestOf(next);
    const watchedUrl = async () => `${await watched.origin()}/${run.watchId}${targetOf(rest, query)}`;
    const { faults } = run.judge;
    const listing = listings.get(rest)!;
    const page = { ...usual, listing, query, number: run.pages, isThird, faults, watchedUrl };
    const request_id = usual.headers[1];
    try {
      const fault = await faultOf(scenario, page);
      if (fault === undefined) return undefined;
      run.judge.faults += 1;
      log.info({ request_id, scenario, run: maskKeys(name), fault: fault.cut ?? fault.status }, 'rehearsal');
      return fault;
    } catch (err) {
      log.error({ request_id, scenario, err }, 'a fault could not be rehearsed');
      return undefined;
    }
  }

  /** Answers a request by its route, and sends that response or a fault in its place. */
  const answerRehearsed: Answer = async (routes, log, request, response, startedMs, requests) => {
    const { method = '', rawHeaders, httpVersion } = request;
    const { path, query } = splitTarget(request.url ?? '');
    const rehearsed = rehearsalPath(path);
    const answerBy = (usual: Routes, head: RequestHead = request, to: ResponseHead = response) =>
      answer(usual, log, head, to, startedMs, requests);
    if (rehearsed === undefined) return answerBy(routes);
    const { scenario, name, rest } = rehearsed;
    if (rest === '') return answerBy(new Map([[path, verdictRoute(rehearsed)]]));
    const finding = within(httpBounds.answerMs, findSender(request), Error);
    const sender = await finding.catch(() => undefined);
    if (sender === undefined || !isWithinBounds(request)) return answerBy(routes);

    const run = runs.open(sender.partnerId, scenario, name);
    const seen = runs.add(run, method, targetOf(rest, query), startedMs);
    const earlier = run.requests.filter(({ digest }) => digest === seen.digest).length - 1;
    run.judge.request(seen, earlier, sender.hasKeyElsewhere);
    const url = targetOf(rest, scenario === 'short-pages' ? shortened(query) : query);
    const usual = await capture((to) => answerBy(routes, { url, method, rawHeaders, httpVersion }, to));
    const isPage = listings.has(rest) && method === 'GET' && usual.status === 200;
    const sent = (isPage && (await faultIn(run, seen, rehearsed, query, usual))) || usual;
    seen.status = sent.status;
    run.judge.response(seen, sent, performance.now());
    response.writeHead(sent.status, [...sent.headers]);
    if (sent.cut !== undefined) {
      cuts.send(response, sent, (isTooLate) => run.judge.closed(seen, performance.now(), isTooLate));
      return 0;
    }
    const isLastPage = isPage && sent.status === 200 && nextCursor(usual) === undefined;
    if (isLastPage) response.once('finish', () => run.judge.lastPageSent());
    response.end(sent.body);
    return sent.body.length;
  };

  return {
    answer: answerRehearsed,
    routes: (routes: Routes): Routes => new RehearsedRoutes(routes),
    close: async () => {
      cuts.stop();
      await watched.close();
    },
  };
}

const listings = new Map<string, ListingName>(operations.map(({ path, name }) => [path, name]));

function targetOf(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

function nextCursor({ body }: Response): string | undefined {
  return /,"cursor":"([^"]+)"\}$/.exec(body.toString())?.[1];
}

/** The response that is made for a request. It is not sent. */
async function capture(make: (to: ResponseHead) => Promise<unknown>): Promise<Response> {
  const made = { status: 0, headers: [] as string[], body: '' as string | Buffer };
  await make({
    writeHead: (status, headers) => Object.assign(made, { status, headers }),
    end: (body = '') => Object.assign(made, { body }),
  });
  return made;
}
