/** The scenarios that a client can rehearse, and its promises. All names are public and stable. */

/** `expects` says what a client must do to pass. A scenario applies to both listings if it names none. */
const scenario = (happens: string, expects: string, listing?: 'balances') =>
  listing === undefined ? { happens, expects } : { happens, expects, listing };

const waits = 'Wait at least that long, send the same request again, and reach the last page.';
const retries = 'Wait a little, send the same request again, and reach the last page.';
const timesOut = 'Time out before that, send the same request again, and reach the last page.';
const restarts = 'Start again without a cursor at most once, and reach the last page.';
const stops = 'Stop: send no further request.';
const ignores = 'Ignore them, and reach the last page.';
const goesOn = 'Go on as long as there is a cursor, and reach the last page.';
const keepsKey = 'Do not send the key there: stop, or follow without the key.';

export const scenarios = {
  steady: scenario('Nothing.', 'Reach the last page.'),
  'rate-limited': scenario('Requests 2 and 4 get 429 with `Retry-After` and `Retry-After-Ms`.', waits),
  unavailable: scenario('Requests 2 and 3 get 503 with `Retry-After: 1`.', waits),
  'server-error': scenario('Request 2 gets 500 once.', retries),
  'bad-gateway': scenario('Request 2 gets a 502 of a proxy, with HTML.', retries),
  torn: scenario('The response to request 2 breaks off in the middle of its body.', retries),
  stalled: scenario('Response 2 stops after its headers. Its connection closes after 30 seconds.', timesOut),
  'expired-cursor': scenario('The first request for page 3 gets INVALID_CURSOR.', restarts),
  'key-revoked': scenario('From request 2 on, requests get 401 API_KEY_REVOKED.', stops),
  'grant-revoked': scenario('From page 2 of balances on, requests get 403 GRANT_REVOKED.', stops, 'balances'),
  'unknown-error': scenario('Request 2 gets a 400 with a category and a code that do not exist yet.', stops),
  'new-fields': scenario('Records, pages and headers have fields that do not exist yet.', ignores),
  'short-pages': scenario('Pages have fewer records than `limit`, and a cursor.', goesOn),
  redirect: scenario('Request 2 gets a 307 to another address, which the sandbox watches.', keepsKey),
};

export type ScenarioName = keyof typeof scenarios;

export const scenarioNames = Object.keys(scenarios) as readonly ScenarioName[];

export const scenarioList = scenarioNames.map((name) => ({ name, ...scenarios[name] }));

/** What a client promises in every scenario, with the reason for the verdict `kept`. */
export const keptReasons = {
  'reached-the-last-page': 'The last page was sent completely.',
  'waited-as-asked': 'No request came sooner than a response asked for.',
  resumed: 'The client did not start over without need.',
  'did-not-hammer': 'No page was requested too often, and no request came too soon after a failure.',
  'stopped-on-final-errors': 'No request came after a final error.',
  'kept-its-key': 'The key was only in the Authorization header, and at no other address.',
  'counted-each-record-once': 'Records were not compared: no number was reported.',
} as const;

export type PromiseName = keyof typeof keptReasons;

export const promiseNames = Object.keys(keptReasons) as readonly PromiseName[];

/** The answer to `GET /rehearsals/SCENARIO.RUN`. */
export interface Verdict {
  readonly scenario: ScenarioName;
  readonly run: string;
  /** `path` has no secrets. */
  readonly requests: readonly { at: string; method: string; path: string; status: number }[];
  /** `pending`: neither kept nor broken by the requests so far. A promise that cannot be broken is kept. */
  readonly promises: readonly { name: PromiseName; verdict: 'kept' | 'broken' | 'pending'; reason: string }[];
}

/** Limits of rehearsals, which only a sandbox has. */
export const rehearsalsBounds = {
  /** Milliseconds without a request after which a run is forgotten. */
  runIdleMs: 10 * 60_000,
  /** Requests that are kept of one run, and of all runs: 30 MB, and 130 MB with the longest paths. */
  runRequests: 1_000,
  requests: 100_000,
  /** Characters of a path with its query that are shown. The longest cursor fits. */
  pathCharacters: 1_200,
  /** Milliseconds for which a 429 asks the client to wait, and by which a client's timer may be early. */
  retryAfterMs: 500,
  timerToleranceMs: 10,
  /** Requests for one page, and milliseconds after a failure in which no request may come. */
  pageRequests: 5,
  hammerMs: 50,
  /** Milliseconds by which a timer for a few milliseconds may be early: Node counts whole milliseconds. */
  timerStepMs: 1,
  /** Milliseconds until a stalled connection is closed. */
  stallMs: 30_000,
};

export type RehearsalsBounds = Readonly<Record<keyof typeof rehearsalsBounds, number>>;
