/**
 * Rehearsals: under /rehearsals/SCENARIO.RUN, a sandbox answers as under /network/v1, except for the faults of
 * the scenario. It watches what the client does about them, and gives a verdict.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { operations } from '@partner-network/contract/operations';
import type { Logger } from 'pino';
import { identify, requireValid } from '../auth/authenticate.ts';
import { createKeyCache } from '../auth/key-cache.ts';
import { httpBounds } from '../bounds/http.ts';
import { answer, type Exchange, type Route, type Routes } from '../http/handle.ts';
import { isWithinBounds, splitTarget } from '../http/request.ts';
import type { RequestMetrics } from '../http/request-metrics.ts';
import { maskKeys } from '../lib/text.ts';
import { within } from '../lib/timeout.ts';
import type { KeyOnFile, Reads } from '../store/port.ts';
import { type RehearsalsBounds, rehearsalsBounds } from './bounds.ts';
import { type Fault, faultOf, type Response, shortened, waitOf } from './faults.ts';
import {
  type JudgedRequest,
  judgeAnswer,
  judgeClosing,
  judgeKey,
  judgeLastPage,
  judgeRequest,
  newConduct,
  promisesOf,
} from './judge.ts';
import { type KeysInRequest, keysIn, shownTarget } from './keys.ts';
import { listPath, type RehearsalPath, rehearsalPath } from './paths.ts';
import { createRuns, type Run } from './runs.ts';
import { scenarioNames, scenarios } from './scenarios.ts';
import type { Verdict } from './verdict.ts';
import { createWatchedOrigin } from './watched-origin.ts';

interface Parts {
  readonly environment: 'sandbox';
  readonly store: Pick<Reads, 'findKey'>;
  readonly nowMs: () => number;
}

export type Rehearsals = ReturnType<typeof createRehearsals>;

export function createRehearsals(
  { environment, store, nowMs }: Parts,
  log: Logger,
  bounds: RehearsalsBounds = rehearsalsBounds,
) {
  const keyCache = createKeyCache();
  const runs = createRuns(bounds, nowMs);
  /** Stalled responses, oldest first, and what closes them. */
  const stalls = new Map<ServerResponse, () => void>();
  let isClosed = false;
  const watched = createWatchedOrigin(bounds, log, (watchId, { url = '', method = '', rawHeaders }) => {
    const run = runs.findWatched(watchId);
    if (run === undefined) return;
    const { inAuthorization, elsewhere } = keysIn(url, rawHeaders);
    if (inAuthorization.length + elsewhere.length > 0) judgeKey(run.conduct, 'other origin');
    note(run, method, url.replace(`/${watchId}`, 'the other origin: '), 404);
  });

  const find = (text: string) => identify(['authorization', `Bearer ${text}`], store, keyCache, environment);

  /** The partner of the first known key, wherever in the request it is. */
  async function partnerOf({ inAuthorization, elsewhere }: KeysInRequest): Promise<string | undefined> {
    for (const text of new Set([...inAuthorization, ...elsewhere].slice(0, bounds.keysTried))) {
      const late = () => new Error('The key could not be read in time.');
      const key = await within(httpBounds.answerMs, find(text), late).catch(() => undefined);
      if (key !== undefined) return key.partnerId;
    }
    return undefined;
  }

  function note(run: Run, method: string, target: string, status?: number) {
    const page = createHash('sha256').update(`${method} ${target}`).digest('base64');
    const path = shownTarget(target, bounds.pathCharacters);
    const request = { atMs: nowMs(), method, path, page, ...(status !== undefined && { status }) };
    const earlier = run.requests.filter((other) => other.page === page).length;
    runs.add(run, request);
    return { request, earlier };
  }

  /** Answers a request by its route, and sends that response or a fault in its place. */
  async function rehearse(
    routes: Routes,
    log: Logger,
    request: IncomingMessage,
    response: ServerResponse,
    startedMs: number,
    requests?: RequestMetrics,
  ): Promise<number> {
    const { url = '', method = '', rawHeaders, httpVersion } = request;
    const { path, query } = splitTarget(url);
    const rehearsed = rehearsalPath(path);
    const keys =
      rehearsed?.rest !== undefined && isWithinBounds(request) ? keysIn(url, rawHeaders) : undefined;
    const partnerId = keys && (await partnerOf(keys));
    if (rehearsed?.rest === undefined || keys === undefined || partnerId === undefined) {
      return answer(routes, log, request, response, startedMs, requests);
    }

    const { scenario, rest } = rehearsed;
    const run = runs.open(partnerId, scenario, rehearsed.run);
    const { conduct } = run;
    const target = query === '' ? rest : `${rest}?${query}`;
    const { request: seen, earlier } = note(run, method, target);
    const parameters = new URLSearchParams(query);
    const cursor = parameters.get('cursor') ?? undefined;
    const judged: JudgedRequest = { page: seen.page, path: rest, cursor, startedMs };
    judgeRequest(conduct, judged, earlier, bounds);
    if (keys.elsewhere.length > 0) judgeKey(conduct, 'elsewhere');

    const asked = scenario === 'short-pages' ? shortened(query) : query;
    const head = { url: asked === '' ? rest : `${rest}?${asked}`, method, rawHeaders, httpVersion };
    let natural: Response = { status: 500, headers: [], body: undefined };
    const captured = {
      writeHead: (status: number, headers: readonly string[]) => {
        natural = { ...natural, status, headers };
      },
      end: (body: string | Buffer | undefined) => {
        natural = { ...natural, body };
      },
    };
    await answer(routes, log, head, captured, startedMs, requests);

    const listing = operations.find((operation) => operation.path === rest)?.name;
    const isPage = method === 'GET' && natural.status === 200 && listing !== undefined;
    let fault: Fault | undefined;
    if (isPage) {
      run.pageRequests += 1;
      const page = cursor === undefined ? 1 : (run.pageOfCursor.get(cursor) ?? 2);
      const next = nextCursor(natural);
      const watchedUrl = async () => `${await watched.url()}/${run.watchId}${target}`;
      const facts = { listing, query: parameters, number: run.pageRequests, page, faults: conduct.faults };
      try {
        fault = await faultOf[scenario]({ ...facts, watchedUrl, response: natural });
      } catch (err) {
        log.error({ request_id: natural.headers[1], scenario, err }, 'a rehearsal failed');
      }
      if (fault === undefined && next !== undefined) keepCursor(run, next, page + 1);
      if (fault !== undefined) {
        conduct.faults += 1;
        const { name } = fault;
        const shown = { request_id: natural.headers[1], scenario, run: maskKeys(rehearsed.run), fault: name };
        log.info(shown, 'rehearsal');
      }
      const isLast = next === undefined && (fault === undefined || fault.name === 'new-fields');
      if (isLast) response.once('finish', () => judgeLastPage(conduct));
    }
    const sent = fault ?? natural;
    seen.status = sent.status;
    const { status } = sent;
    const isCursorRefused = status === 400 && String(sent.body).includes('"code":"INVALID_CURSOR"');
    const isCut = fault?.cut !== undefined;
    const sentMs = performance.now();
    judgeAnswer(conduct, judged, { sentMs, status, isCursorRefused, waitMs: waitOf(sent), isCut }, bounds);
    return send(response, sent, fault?.cut, (isTooLate) =>
      judgeClosing(conduct, judged, performance.now(), isTooLate),
    );
  }

  function keepCursor({ pageOfCursor }: Run, cursor: string, page: number): void {
    pageOfCursor.set(cursor, page);
    for (const oldest of pageOfCursor.keys()) {
      if (pageOfCursor.size <= bounds.runCursors) return;
      pageOfCursor.delete(oldest);
    }
  }

  /** Sends a response, or a part of it. Returns the length of the text that stays in memory until it is read. */
  function send(
    response: ServerResponse,
    { status, headers, body = '' }: Response,
    cut: Fault['cut'],
    onCut: (isTooLate: boolean) => void,
  ): number {
    response.writeHead(status, [...headers]);
    if (cut === undefined) {
      response.end(body);
      return typeof body === 'string' ? body.length : 0;
    }
    if (response.destroyed) {
      onCut(false);
      return 0;
    }
    if (cut === 'stalled') {
      stall(response, onCut);
      return 0;
    }
    response.once('close', () => onCut(false));
    const bytes = Buffer.from(body as string);
    response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    return 0;
  }

  /** Sends the headers only. Closes the connection later, or earlier if too many are stalled. */
  function stall(response: ServerResponse, onCut: (isTooLate: boolean) => void): void {
    let isTooLate = false;
    const timer = setTimeout(() => {
      isTooLate = true;
      response.destroy();
    }, bounds.stallMs);
    stalls.set(response, () => response.destroy());
    response.once('close', () => {
      clearTimeout(timer);
      stalls.delete(response);
      onCut(isTooLate);
    });
    // The server would close it earlier.
    response.setTimeout(0);
    response.flushHeaders();
    const [oldest] = stalls.keys();
    if (isClosed || stalls.size > bounds.stalls) oldest?.destroy();
  }

  async function verdictRoute(path: RehearsalPath, exchange: Exchange): Promise<string> {
    const key: KeyOnFile = await identify(exchange.rawHeaders, store, keyCache, environment);
    exchange.partnerId = key.partnerId;
    exchange.keyId = key.id;
    requireValid(key, nowMs());
    const run = runs.find(key.partnerId, path.scenario, path.run);
    exchange.headers.push(...jsonHeaders);
    return JSON.stringify(verdictOf(path, run));
  }

  return {
    answer: rehearse,
    /** The same routes, also under the paths of rehearsals. */
    routes: (routes: Routes): Routes =>
      new RehearsedRoutes(routes, (path) => (exchange) => verdictRoute(path, exchange)),
    /** Closes stalled connections at once, so that a stop does not wait for them. */
    close: async (): Promise<void> => {
      isClosed = true;
      for (const close of stalls.values()) close();
      await watched.close();
    },
  };
}

const jsonHeaders = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];

/** Finds the route of a path under /rehearsals: the route of the path itself, the verdict or the list. */
class RehearsedRoutes extends Map<string, Route> {
  readonly #verdict: (path: RehearsalPath) => Route;

  constructor(routes: Routes, verdict: (path: RehearsalPath) => Route) {
    super([...routes, [listPath, listRoute]]);
    this.#verdict = verdict;
  }

  override get(path: string): Route | undefined {
    const rehearsed = rehearsalPath(path);
    if (rehearsed === undefined) return super.get(path);
    return rehearsed.rest === undefined ? this.#verdict(rehearsed) : super.get(rehearsed.rest);
  }

  override has(path: string): boolean {
    return this.get(path) !== undefined;
  }
}

async function listRoute({ headers }: Exchange): Promise<string> {
  headers.push(...jsonHeaders);
  return JSON.stringify({ scenarios: scenarioNames.map((name) => ({ name, ...scenarios[name] })) });
}

function verdictOf({ scenario, run: name }: RehearsalPath, run: Run | undefined): Verdict {
  const requests = (run?.requests ?? []).flatMap(({ atMs, method, path, status }) =>
    status === undefined ? [] : [{ at: new Date(atMs).toISOString(), method, path, status }],
  );
  return {
    scenario,
    // A client may use its key by mistake.
    run: maskKeys(name),
    requests,
    promises: promisesOf(run?.conduct ?? newConduct(scenario)),
  };
}

function nextCursor({ body }: Response): string | undefined {
  return /,"cursor":"([^"]+)"\}$/.exec(String(body))?.[1];
}
