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
  /** Of the specification, such as `4.3.2`, or a heading of the decisions, such as `Errors`. */
  readonly section: string;
  /** `specification` cases run in both profiles. */
  readonly profile: Profile;
  readonly title: string;
  /** Without all of these, the case is skipped. */
  readonly needs: readonly (Variable | '--burst')[];
  /** Throws a `Failure` if the promise is broken, and a `Skip` if this deployment cannot show it. */
  check(probe: Probe): Promise<void>;
}

export interface Answer {
  /** The request as it was sent, with its key. Reports show it without values. */
  readonly sent: string;
  readonly method: string;
  /** Relative to the base URL, such as `/brands`, without its query; undefined for raw requests. */
  readonly path: string | undefined;
  /** When the request was sent and when its answer was complete, by `performance.now()`. */
  readonly sentMs: number;
  readonly answeredMs: number;
  /** 0 if no whole answer came; `fault` then says why: ECONNRESET, TIMEOUT, BODY_TOO_LONG. */
  readonly status: number;
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

/** Sends requests. They are paced and counted, and repeated after a 429 or 503. */
export interface Probe {
  readonly base: URL;
  readonly given: Given;
  /** All answers of the run so far. */
  readonly answers: readonly Answer[];
  /** `target` is a path below the base URL, and a query. The partner's key is the default authorization. */
  get(target: string, authorization?: string, method?: string): Promise<Answer>;
  /** Sends a text as it is written; each character is one byte. */
  raw(text: string): Promise<Answer>;
  /** Sends the same request many times at once, without pace. */
  burst(count: number, target: string): Promise<readonly Answer[]>;
  /** Makes a value once for all cases of the run. A failure is made again for the next case. */
  once<Value>(name: string, make: () => Promise<Value>): Promise<Value>;
}

/** `expected` completes "Expected …" in reports, so it must not repeat anything that the service sent. */
export class Failure extends Error {
  readonly answer: Answer;
  readonly expected: string;

  constructor(answer: Answer, expected: string) {
    super(expected);
    this.answer = answer;
    this.expected = expected;
  }
}

/** Ends a case that this deployment cannot show. Its message says what is missing. */
export class Skip extends Error {}

/** One case of the report, as --json prints it. Nothing of a real deployment stands in it. */
export interface CaseResult extends Pick<Case, 'id' | 'section' | 'title'> {
  readonly status: 'passed' | 'failed' | 'skipped' | 'expected';
  /** Of a failed case. */
  readonly request?: string;
  readonly answer?: string;
  readonly expected?: string;
  /** Of a skipped case: the variable that would allow it, or what else is missing. */
  readonly variable?: string;
}
