/** What a conformance case is, and what it gets to test a deployment with. */

export type Profile = 'specification' | 'decisions';

/** The environment variables that hold keys and ids. Reports name them in place of their values. */
export const variables = {
  PARTNER_NETWORK_API_KEY: 'an API key with both scopes; required',
  PARTNER_NETWORK_CUSTOMER_ID: 'a customer who gave this partner an active grant',
  PARTNER_NETWORK_GRANT_ID: 'an active grant from that customer to this partner',
  PARTNER_NETWORK_CUSTOMER_ID_WITHOUT_GRANT: 'a customer who gave this partner no grant',
  PARTNER_NETWORK_BRANDS_ONLY_API_KEY: 'a key of this partner with the scope BRANDS_READ only',
  PARTNER_NETWORK_OTHER_PARTNER_API_KEY:
    'a key of another partner with both scopes; the customer gave that partner no grant',
  PARTNER_NETWORK_REVOKED_API_KEY: 'a revoked key',
  PARTNER_NETWORK_EXPIRED_API_KEY: 'an expired key',
  PARTNER_NETWORK_OTHER_ENVIRONMENT_API_KEY: 'a key of the other environment',
} as const;

export type Variable = keyof typeof variables;

export type Given = Readonly<Partial<Record<Variable, string>>>;

export interface Case {
  /** Stable, for example `brands.limit.zero`. */
  readonly id: string;
  /** A section of the specification, such as `4.3.2`, or a heading of the decisions, such as `Errors`. */
  readonly section: string;
  /** `specification` cases run in both profiles. */
  readonly profile: Profile;
  /** States the promise. */
  readonly title: string;
  /** Without all of these, the case is skipped. */
  readonly needs?: readonly Variable[];
  /** Run only with --burst. */
  readonly needsBurst?: true;
  /** Throws a `Failure` if the promise is broken, and a `Skip` if this deployment cannot show it. */
  check(probe: Probe): Promise<void>;
}

/** Names and values; a list sends one name several times. Undefined is left out. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface Sending {
  readonly method?: string;
  /** The variable of the key to send, a whole header value, or null for no Authorization header. */
  readonly key?: Variable | { readonly header: string } | null;
  /** Further headers; names and values alternate. */
  readonly headers?: readonly string[];
  /** The path starts at the origin, not at the base URL. */
  readonly atOrigin?: true;
}

export interface Answer {
  /** What was sent, with variables in place of keys and ids. */
  readonly request: string;
  readonly method: string;
  /** As given to `get`, such as `/brands`; undefined for paths at the origin and for raw bytes. */
  readonly path: string | undefined;
  /** When the request was sent and when its answer was complete, by `performance.now()`. */
  readonly sentMs: number;
  readonly answeredMs: number;
  /** 0 if no whole answer came; `fault` then says why. */
  readonly status: number;
  /** The system's code, such as ECONNRESET, or TIMEOUT or BODY_TOO_LONG. */
  readonly fault?: string | undefined;
  /** Names and values alternate, as they came. */
  readonly rawHeaders: readonly string[];
  /** The value of a header; the values of several headers of this name are joined by a comma. */
  header(name: string): string | undefined;
  readonly body: Buffer;
  readonly text: string;
  /** The parsed body, or undefined if it is not JSON. */
  readonly json: unknown;
}

/** Sends requests and checks answers. A request is paced and counted, and repeated after a 429 or 503. */
export interface Probe {
  readonly given: Given;
  /** All answers of the run so far. */
  readonly answers: readonly Answer[];
  /**
   * `path` is relative to the base URL, such as `/brands`. A query that is a text is sent as it is written.
   * The key is PARTNER_NETWORK_API_KEY by default.
   */
  get(path: string, query?: Query | string, sending?: Sending): Promise<Answer>;
  /**
   * Sends these bytes on a connection of their own; each character is one byte. `{path}` is the path of the
   * base URL, `{host}` its host and port, `{key}` the key.
   */
  raw(text: string): Promise<Answer>;
  /** Sends the same request many times at once (150 at most), without pace. Only with --burst. */
  burst(count: number, path: string, query?: Query): Promise<readonly Answer[]>;
  /** Makes a value once for all cases of the run. A failure is made again for the next case. */
  once<Value>(name: string, make: () => Promise<Value>): Promise<Value>;
  /**
   * Throws a `Failure` unless it holds; `expected` completes the sentence "Expected …". It stands in reports,
   * so it must not repeat anything that the service sent.
   */
  expect(answer: Answer, holds: boolean, expected: string): void;
}

export class Failure extends Error {
  readonly answer: Answer;
  readonly expected: string;

  constructor(answer: Answer, expected: string) {
    super(expected);
    this.answer = answer;
    this.expected = expected;
  }
}

/** Ends a case that this deployment cannot show. Its sentence stands in the report as `variable`. */
export class Skip extends Error {}

/** One case of the report, as --json prints it. Nothing of a real deployment stands in it. */
export interface CaseResult {
  readonly id: string;
  readonly section: string;
  readonly title: string;
  readonly status: 'passed' | 'failed' | 'skipped' | 'expected';
  /** Of a failed case. */
  readonly request?: string;
  readonly answer?: string;
  readonly expected?: string;
  /** Of a skipped case: the variable that would allow it, or a sentence that says what is missing. */
  readonly variable?: string;
}

/** What --json prints. */
export interface Report {
  readonly base_url: string;
  readonly profile: Profile;
  readonly cases: readonly CaseResult[];
}
