/**
 * Rehearsals: under /rehearsals/SCENARIO.RUN a sandbox answers as it does under /network/v1, except for the
 * faults of the scenario. It judges what the client does about them.
 */
import type { IncomingMessage } from 'node:http';
import { httpBounds } from '@partner-network/common/bounds/http';
import { maskKeys, originOf } from '@partner-network/common/text';
import { within } from '@partner-network/common/timeout';
import { basePath, listings } from '@partner-network/contract/operations';
import { redirect } from '@partner-network/http/content';
import {
  type Answer,
  acceptsHtml,
  answer,
  type Exchange,
  finish,
  type Route,
  type Routes,
  respond,
  type Site,
} from '@partner-network/http/handle';
import { refusal } from '@partner-network/http/refusal';
import { commonHeaders, newRequestId, splitTarget } from '@partner-network/http/request';
import { createHttpServer, listen } from '@partner-network/http/server/server';
import type { Reads } from '@partner-network/store/port';
import { createKeyCache, identify, requireValid } from '../auth.ts';
import { openService } from '../serve/service.ts';
import { cutOff, faults, headersOf, nextCursor, type Page, shortened } from './faults.ts';
import { createRuns, keysIn, type Run, type Runs, type SentResponse } from './runs.ts';
import {
  type RehearsalsBounds,
  rehearsalsBounds,
  type ScenarioName,
  scenarioList,
  scenarios,
  type Verdict,
} from './scenarios.ts';

/** Opens a service with rehearsals around it. Only a sandbox has them, and only in one process. */
export const openSandboxService: typeof openService = async (settings, log, opened, choices) => {
  let rehearsals: Awaited<ReturnType<typeof openRehearsals>> | undefined;
  const serving = await openService(settings, log, opened, {
    ...choices,
    wrap: async (site, store) => {
      rehearsals = await openRehearsals(site, store, Date.now);
      return rehearsals.site;
    },
  });
  // Closed before the server, which waits for every response: a rehearsal may have stalled one.
  opened.defer(() => rehearsals?.close());
  return serving;
};

/** Wraps a site. Its requests outside of /rehearsals are answered as before. */
export async function openRehearsals(
  usualSite: Site,
  store: Pick<Reads, 'findKey'>,
  nowMs: () => number,
  bounds: RehearsalsBounds = rehearsalsBounds,
) {
  const keyCache = createKeyCache();
  const keyOf = (rawHeaders: readonly string[]) => identify(rawHeaders, store, keyCache, 'sandbox');
  const runs = createRuns(bounds, nowMs);
  const stopping = new AbortController();
  const watched = await openWatchedOrigin(runs);

  const verdictRoute = (path: RehearsalPath): Route => ({
    async answer(exchange) {
      const key = await keyOf(exchange.rawHeaders);
      exchange.key = key;
      requireValid(key, nowMs());
      return json(exchange, verdictOf(runs.find(idOf(path, key.partnerId)), path));
    },
  });

  /** Adds a request to the run of its key, and judges it. Undefined without a known key. */
  async function judge(request: IncomingMessage, rehearsed: Rehearsed, startedMs: number) {
    const { inAuthorization, elsewhere } = keysIn(request);
    const finding = keyOf(['Authorization', `Bearer ${inAuthorization ?? elsewhere}`]);
    const key = await within(httpBounds.answerMs, finding, Error).catch(() => undefined);
    if (key === undefined) return undefined;
    const run = runs.open(idOf(rehearsed, key.partnerId));
    const seen = runs.add(run, request.method ?? '', rehearsed.target, startedMs);
    run.judge(seen, elsewhere !== undefined);
    return { run, seen };
  }

  /** Makes the usual response to a request, and sends it or a fault in its place. */
  const answerRehearsed: Answer = async (site, request, response, startedMs) => {
    const rehearsed = rehearsedRequest(request);
    if (rehearsed === undefined) return answer(site, request, response, startedMs);
    const { scenario, name, target, usualRequest } = rehearsed;
    const judged = await judge(request, rehearsed, startedMs);
    if (judged === undefined) return answer(site, usualRequest, response, startedMs);
    const { run, seen } = judged;
    const exchange = await respond(site, usualRequest, startedMs);
    const { requestId, status, headers, body = '' } = exchange;
    const usual: SentResponse = { status, headers: headersOf(headers), body };
    const watchedUrl = `${watched.origin}/${run.watchId}${target}`;
    const page = pageOf(rehearsed, { ...usual, requestId, watchedUrl });
    const fault = page && faultOf(page, run, scenario);
    const sent = fault ?? usual;
    run.answer(seen, sent, performance.now());
    response.writeHead(sent.status, sent.headers);
    if (sent.cut === undefined) {
      const isLast = page !== undefined && sent.status === 200 && nextCursor(usual) === undefined;
      if (isLast) response.once('finish', () => run.reachLastPage());
      response.end(sent.body);
    } else {
      const onClosed = (isTooLate: boolean) => run.close(seen, performance.now(), isTooLate);
      cutOff(response, sent, { stallMs: bounds.stallMs, stopping: stopping.signal }, onClosed);
    }
    finish(site, exchange, sent.outcome);
    if (fault !== undefined) {
      const shown = { scenario, run: maskKeys(name), fault: fault.cut ?? fault.status };
      site.log.info({ request_id: requestId, ...shown }, 'rehearsal');
    }
    return sent.cut === undefined ? sent.body.length : 0;
  };

  const routes = withRehearsals(usualSite.routes, verdictRoute);
  return {
    site: { ...usualSite, routes, answer: answerRehearsed },
    close: () => {
      stopping.abort();
      watched.close();
    },
  };
}

/** Finds the usual routes, the list of scenarios (a page for a browser), and the routes of all runs. */
function withRehearsals(usual: Routes, verdictRoute: (path: RehearsalPath) => Route): Routes {
  const list: Route = {
    async answer(exchange) {
      exchange.headers.push('Vary', 'Accept');
      if (acceptsHtml(exchange.rawHeaders)) return redirect(exchange, 'docs/guides/sandbox#rehearsals');
      return json(exchange, { scenarios: scenarioList });
    },
  };
  return {
    get(path) {
      if (path === '/rehearsals') return list;
      const rehearsed = rehearsalPath(path);
      if (rehearsed === undefined) return usual.get(path);
      return rehearsed.rest === '' ? verdictRoute(rehearsed) : usual.get(rehearsed.rest);
    },
  };
}

type RehearsalPath = NonNullable<ReturnType<typeof rehearsalPath>>;

/** Neither scenario nor run contains a space. */
const idOf = ({ scenario, name }: RehearsalPath, partnerId: string) => `${scenario}.${name} ${partnerId}`;

const pathForm = new RegExp(`^/rehearsals/([a-z-]+)(?:\\.([\\w-]{1,64}))?(${basePath}(?:/.*)?)?$`);

/** Undefined for a path outside of rehearsals, and for an unknown scenario. `rest` is empty for a verdict. */
function rehearsalPath(path: string) {
  const [, scenario = '', name = 'default', rest = ''] = pathForm.exec(path) ?? [];
  return Object.hasOwn(scenarios, scenario) ? { scenario: scenario as ScenarioName, name, rest } : undefined;
}

type Rehearsed = NonNullable<ReturnType<typeof rehearsedRequest>>;

/** A request of a run, and the request that the service answers usually. Undefined for other requests. */
function rehearsedRequest({ url = '', method = '', rawHeaders, httpVersion }: IncomingMessage) {
  const { path, query } = splitTarget(url);
  const rehearsed = rehearsalPath(path);
  if (rehearsed === undefined || rehearsed.rest === '') return undefined;
  const { scenario, rest } = rehearsed;
  const usualTarget = targetOf(rest, scenario === 'short-pages' ? shortened(query) : query);
  const usualRequest = { url: usualTarget, method, rawHeaders, httpVersion };
  return { ...rehearsed, method, query, target: targetOf(rest, query), usualRequest };
}

const targetOf = (path: string, query: string) => (query === '' ? path : `${path}?${query}`);

/** The page in a response. Undefined if the response has none. */
function pageOf({ method, rest, query }: Rehearsed, usual: Omit<Page, 'listing' | 'query'>) {
  const listing = listings.find(({ path }) => path === rest)?.name;
  const hasPage = listing !== undefined && method === 'GET' && usual.status === 200;
  return hasPage ? { ...usual, listing, query } : undefined;
}

/** The fault that is due in place of a page. */
function faultOf(page: Page, run: Run, scenario: ScenarioName): SentResponse | undefined {
  run.pages += 1;
  const fault = faults[scenario]?.(page, run);
  if (fault !== undefined) run.faults += 1;
  return fault;
}

function verdictOf(run: Run, { scenario, name }: RehearsalPath): Verdict {
  const requests = run.requests.flatMap(({ at, method, path, status }) =>
    status === undefined ? [] : [{ at, method, path, status }],
  );
  // A client may send its key in place of the run.
  return { scenario, run: maskKeys(name), requests, promises: run.promises(scenario) };
}

function json({ headers }: Exchange, body: object): string {
  headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store');
  return JSON.stringify(body);
}

/** The other address of the redirect, on this machine. It sees whether a client sends its key there. */
async function openWatchedOrigin(runs: Runs) {
  const host = '127.0.0.1';
  const { headers, body } = refusal('NOT_FOUND');
  const server = createHttpServer().on('request', (request, response) => {
    const { url = '', method = '' } = request;
    const watchId = url.split('/')[1]!;
    const run = runs.findWatched(watchId);
    if (run !== undefined) {
      const { inAuthorization, elsewhere } = keysIn(request);
      const reason =
        'The client sent its key to another address. Do not follow redirects, or leave the key out.';
      run.check('kept-its-key', (inAuthorization ?? elsewhere) === undefined, reason);
      runs.add(run, method, origin + url.slice(1 + watchId.length), performance.now()).status = 404;
    }
    response.writeHead(404, [...commonHeaders(newRequestId()), ...headers]).end(body);
  });
  const origin = originOf(host, await listen(server, host, 0, '--port'));
  // A start that fails after this must end the process.
  server.unref();
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { origin, close };
}
