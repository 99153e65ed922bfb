/**
 * Rehearsals: under /rehearsals/SCENARIO.RUN a sandbox answers as it does under /network/v1, except for the
 * faults of the scenario. It judges what the client does about them.
 */
import type { IncomingMessage } from 'node:http';
import { httpBounds } from '@partner-network/common/bounds/http';
import { maskKeys } from '@partner-network/common/text';
import { within } from '@partner-network/common/timeout';
import { keyPattern } from '@partner-network/contract/environments';
import { basePath, operations } from '@partner-network/contract/operations';
import {
  answer,
  type Exchange,
  type ResponseHead,
  type Route,
  type Routes,
} from '@partner-network/http/handle';
import { commonHeaders, refusal } from '@partner-network/http/refusal';
import { newRequestId, type RequestHead, splitTarget } from '@partner-network/http/request';
import type { Answer } from '@partner-network/http/server/server';
import type { Reads } from '@partner-network/store/port';
import { identify, requireValid } from '../auth/authenticate.ts';
import { createKeyCache } from '../auth/key-cache.ts';
import { type RehearsalsBounds, rehearsalsBounds } from './bounds.ts';
import { cutOff, openWatchedOrigin } from './connections.ts';
import { faults, nextCursor, shortened } from './faults.ts';
import type { Response } from './runs.ts';
import { createRuns, decoded } from './runs.ts';
import { type ScenarioName, scenarioList, scenarios, type Verdict } from './scenarios.ts';

export type Rehearsals = Awaited<ReturnType<typeof openRehearsals>>;

export async function openRehearsals(
  store: Pick<Reads, 'findKey'>,
  nowMs: () => number,
  bounds: RehearsalsBounds = rehearsalsBounds,
) {
  const keyCache = createKeyCache();
  const keyOf = (rawHeaders: readonly string[]) => identify(rawHeaders, store, keyCache, 'sandbox');
  const runs = createRuns(bounds, nowMs);
  const stopping = new AbortController();
  const watched = await openWatchedOrigin((request, response) => {
    const { url = '', method = '' } = request;
    const watchId = url.split('/')[1]!;
    const run = runs.findWatched(watchId);
    if (run !== undefined) {
      const { inAuthorization, elsewhere } = keysIn(request);
      const reason =
        'The client sent its key to another address. Do not follow redirects, or leave the key out.';
      run.check('kept-its-key', (inAuthorization ?? elsewhere) === undefined, reason);
      const target = watched.origin + url.slice(1 + watchId.length);
      runs.add(run, method, target, performance.now()).status = 404;
    }
    const { headers, body } = refusal('NOT_FOUND');
    response.writeHead(404, [...commonHeaders(newRequestId()), ...headers]).end(body);
  });

  const verdictRoute =
    (scenario: ScenarioName, name: string): Route =>
    async (exchange) => {
      const key = await keyOf(exchange.rawHeaders);
      exchange.partnerId = key.partnerId;
      exchange.keyId = key.id;
      requireValid(key, nowMs());
      const run = runs.find(key.partnerId, scenario, name);
      const requests = run.requests.flatMap(({ at, method, path, status }) =>
        status === undefined ? [] : [{ at, method, path, status }],
      );
      // A client may send its key in place of the run.
      const verdict: Verdict = { scenario, run: maskKeys(name), requests, promises: run.promises(scenario) };
      return json(exchange, verdict);
    };

  /** Answers a request by its route, and sends that response or a fault in its place. */
  const answerRehearsed: Answer = async (routes, log, request, response, startedMs, requests) => {
    const { url = '', method = '', rawHeaders, httpVersion } = request;
    const { path, query } = splitTarget(url);
    const answerBy = (usual: Routes, head: RequestHead, to: ResponseHead = response) =>
      answer(usual, log, head, to, startedMs, requests);
    const rehearsed = rehearsalPath(path);
    if (rehearsed === undefined) return answerBy(routes, request);
    const { scenario, name, rest } = rehearsed;
    if (rest === '') return answerBy(new Map([[path, verdictRoute(scenario, name)]]), request);

    const target = targetOf(rest, query);
    const usualTarget = targetOf(rest, scenario === 'short-pages' ? shortened(query) : query);
    const usualRequest = { url: usualTarget, method, rawHeaders, httpVersion };
    const { inAuthorization, elsewhere } = keysIn(request);
    const finding = keyOf(['Authorization', `Bearer ${inAuthorization ?? elsewhere}`]);
    const key = await within(httpBounds.answerMs, finding, Error).catch(() => undefined);
    if (key === undefined) return answerBy(routes, usualRequest);
    const run = runs.open(key.partnerId, scenario, name);
    const seen = runs.add(run, method, target, startedMs);
    run.judge(seen, elsewhere !== undefined);

    const listing = method === 'GET' ? operations.find(({ path }) => path === rest)?.name : undefined;
    const watchedUrl = `${watched.origin}/${run.watchId}${target}`;
    // The usual response is made, and not sent yet. Its receipt has the outcome of what is sent.
    const usual = { status: 0, headers: [] as string[], body: '' as string | Buffer };
    let sent: Response = usual;
    await answerBy(routes, usualRequest, {
      writeHead: (status, headers) => Object.assign(usual, { status, headers }),
      end: (body = '') => {
        usual.body = body;
        if (listing === undefined || usual.status !== 200) return;
        run.pages += 1;
        sent = faults[scenario]?.({ ...usual, listing, query, watchedUrl }, run) ?? usual;
        if (sent !== usual) run.faults += 1;
      },
      get outcome() {
        return sent.outcome;
      },
    });
    if (sent !== usual) {
      const shown = { scenario, run: maskKeys(name), fault: sent.cut ?? sent.status };
      log.info({ request_id: usual.headers[1], ...shown }, 'rehearsal');
    }
    run.answer(seen, sent, performance.now());
    response.writeHead(sent.status, [...sent.headers]);
    if (sent.cut !== undefined) {
      const late = AbortSignal.timeout(bounds.stallMs);
      const onClosed = () => run.close(seen, performance.now(), late.aborted);
      cutOff(response, sent, AbortSignal.any([late, stopping.signal]), onClosed);
      return 0;
    }
    if (listing !== undefined && sent.status === 200 && nextCursor(usual) === undefined)
      response.once('finish', () => run.reachLastPage());
    response.end(sent.body);
    return sent.body.length;
  };

  return {
    answer: answerRehearsed,
    routes: withRehearsals,
    close: () => {
      stopping.abort();
      watched.close();
    },
  };
}

const pathForm = new RegExp(`^/rehearsals/([a-z-]+)(?:\\.([\\w-]{1,64}))?(${basePath}(?:/.*)?)?$`);

/** `rest` is empty in the path of a verdict. Undefined for every other path, and for an unknown scenario. */
function rehearsalPath(path: string) {
  const [, scenario = '', name = 'default', rest = ''] = pathForm.exec(path) ?? [];
  return Object.hasOwn(scenarios, scenario) ? { scenario: scenario as ScenarioName, name, rest } : undefined;
}

/** The usual routes and the list of scenarios. The paths of runs exist too. */
function withRehearsals(usual: Routes): Routes {
  const list: Route = async (exchange) => json(exchange, { scenarios: scenarioList });
  const routes = new Map(usual).set('/rehearsals', list);
  const has = (path: string) => path === '/rehearsals' || usual.has(rehearsalPath(path)?.rest || path);
  return Object.assign(routes, { has });
}

function json({ headers }: Exchange, body: object): string {
  headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store');
  return JSON.stringify(body);
}

const targetOf = (path: string, query: string) => (query === '' ? path : `${path}?${query}`);

const keyForm = new RegExp(keyPattern);

/** The first text of the form of a key in the Authorization header, and in the rest of a request. */
function keysIn({ url, headers: { authorization = '', ...others } }: IncomingMessage) {
  const keyIn = (text: string) => keyForm.exec(decoded(text))?.[0];
  return { inAuthorization: keyIn(authorization), elsewhere: keyIn(JSON.stringify([url, others])) };
}
