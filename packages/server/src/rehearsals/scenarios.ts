/** The scenarios that a client can rehearse. Their names are public and stable. */

export interface Scenario {
  readonly happens: string;
  /** What a client must do to pass. */
  readonly expects: string;
  /** The only listing that the scenario applies to; without it, both. */
  readonly listing?: 'balances';
}

const retries = 'Waits at least that long, sends the same request again, and reaches the last page.';

export const scenarios = {
  steady: { happens: 'Nothing.', expects: 'Reaches the last page.' },
  'rate-limited': {
    happens: 'Requests 2 and 4 get 429 with `Retry-After` and `Retry-After-Ms`.',
    expects: retries,
  },
  unavailable: { happens: 'Requests 2 and 3 get 503 with `Retry-After: 1`.', expects: retries },
  'server-error': {
    happens: 'Request 2 gets 500 once.',
    expects: 'Waits a little, sends the same request again, and reaches the last page.',
  },
  'bad-gateway': {
    happens: 'Request 2 gets a 502 of a proxy, with HTML.',
    expects: 'Waits a little, sends the same request again, and reaches the last page.',
  },
  torn: {
    happens: 'The response to request 2 breaks off in the middle of its body.',
    expects: 'Sends the same request again, and reaches the last page.',
  },
  stalled: {
    happens: 'The response to request 2 stops after its headers. The connection closes after 30 seconds.',
    expects: 'Times out before that, sends the same request again, and reaches the last page.',
  },
  'expired-cursor': {
    happens: 'The first request with a cursor of page 3 gets INVALID_CURSOR, once per run.',
    expects: 'Starts again without a cursor at most once, and reaches the last page.',
  },
  'key-revoked': {
    happens: 'From request 2 on, every request gets 401 API_KEY_REVOKED.',
    expects: 'Stops: sends no further request.',
  },
  'grant-revoked': {
    happens: 'From page 2 of balances on, every request gets 403 GRANT_REVOKED.',
    expects: 'Stops: sends no further request.',
    listing: 'balances',
  },
  'unknown-error': {
    happens: 'Request 2 gets a 400 with a category and a code that do not exist yet.',
    expects: 'Stops: sends no further request.',
  },
  'new-fields': {
    happens: 'Records, pages and headers have fields that do not exist yet.',
    expects: 'Ignores them, and reaches the last page.',
  },
  'short-pages': {
    happens: 'Pages have fewer records than `limit`, and a cursor.',
    expects: 'Goes on as long as there is a cursor, and reaches the last page.',
  },
  redirect: {
    happens: 'Request 2 gets a 307 to another address on this machine, which the sandbox watches.',
    expects: 'Does not send its key there. It may stop, or follow without the key.',
  },
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof scenarios;

export const scenarioNames = Object.keys(scenarios) as readonly ScenarioName[];
