/** What cases send, and what they send it with. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { keyPrefixes } from '@partner-network/contract/environments';
import { type Answer, createSender, Skip } from './send.ts';

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

/** The variables that are set. */
export type Supplied = Readonly<Partial<Record<Variable, string>>>;

/** A request, or the lines of a raw one. */
export type Request = PathRequest | { readonly lines: (probe: Probe) => readonly string[] };

export interface PathRequest {
  /** Below the base URL. A query in it is sent as it is written. */
  readonly path: string;
  /** Percent-encoded and added to the path. */
  readonly query?: Query;
  /** Makes the Authorization header, by default with the partner's own key. An empty header is not sent. */
  readonly as?: As | undefined;
  readonly method?: 'POST' | 'DELETE' | 'OPTIONS' | 'HEAD';
}

/** Parameters with values, or with functions that find them. A parameter without a value is not sent. */
export type Query = Readonly<
  Record<string, string | number | undefined | ((probe: Probe) => string | Promise<string>)>
>;
export type As = (probe: Probe) => string;

export type Probe = ReturnType<typeof createProbe>;

export function createProbe(base: URL, supplied: Supplied, isBurst: boolean) {
  const sender = createSender(base);
  const shared = new Map<string, Promise<unknown>>();
  const ownKey = `Bearer ${supplied.PARTNER_NETWORK_API_KEY}`;

  /** The text of a request, and its path, which a raw request does not have. */
  async function written(request: Request): Promise<[text: string, path?: string]> {
    if ('lines' in request) return [[...request.lines(probe), '', ''].join('\r\n')];
    const { path, query, as = () => ownKey, method = 'GET' } = request;
    const authorization = as(probe);
    const parameters: string[] = [];
    for (const [name, value] of Object.entries(query ?? {})) {
      const text = typeof value === 'function' ? await value(probe) : value;
      if (text !== undefined) parameters.push(`${name}=${encodeURIComponent(text)}`);
    }
    const target = query === undefined ? path : `${path}?${parameters.join('&')}`;
    const lines = [
      `${method} ${base.pathname}${target} HTTP/1.1`,
      `Host: ${base.host}`,
      'User-Agent: partner-network-conformance',
      'Connection: close',
      ...(authorization === '' ? [] : [`Authorization: ${authorization}`]),
      '\r\n',
    ];
    return [lines.join('\r\n'), target.split('?')[0]];
  }

  const probe = {
    base,
    /** The Authorization header with the partner's own key. */
    ownKey,
    /** All answers of the run so far. */
    answers: [] as Answer[],
    /** The value of a variable. Without it, the case is skipped. */
    value(variable: Variable): string {
      const found = supplied[variable];
      if (found === undefined) throw new Skip(variable);
      return found;
    },
    async send(request: Request): Promise<Answer> {
      const answer = await sender.send(...(await written(request)));
      probe.answers.push(answer);
      return answer;
    },
    /** Sends the same request many times at once, after a pause. Without --burst, the case is skipped. */
    async burst(count: number, request: Request, pauseMs: number): Promise<readonly Answer[]> {
      if (!isBurst) throw new Skip('--burst');
      await sleep(pauseMs);
      const answers = await sender.burst(count, ...(await written(request)));
      probe.answers.push(...answers);
      return answers;
    },
    /** Makes a value once for all cases of the run. A failure is made again for the next case. */
    once<Value>(name: string, make: () => Promise<Value>): Promise<Value> {
      const made = shared.get(name) ?? make();
      shared.set(name, made);
      made.catch(() => shared.delete(name));
      return made as Promise<Value>;
    },
  };
  return probe;
}

/** A value for `query`, and values for `as`. */
export const idIn = (variable: Variable) => (probe: Probe) => probe.value(variable);
export const keyIn = (variable: Variable) => (probe: Probe) => `Bearer ${probe.value(variable)}`;
export const nobody = () => '';

/** An id, name or reference that no deployment knows. */
export const madeUp = () => `conformance-${randomBytes(12).toString('hex')}`;

/** A key that no deployment knows, for the environment of the partner's own key. */
export function unknownKey({ ownKey }: Probe): string {
  const isProduction = ownKey.startsWith(`Bearer ${keyPrefixes.production}`);
  return keyPrefixes[isProduction ? 'production' : 'sandbox'] + randomBytes(25).toString('hex').slice(1);
}

export const ownCustomer = idIn('PARTNER_NETWORK_CUSTOMER_ID');

/** Requests for a page of a listing, with the parameters that it requires. */
export const brands = (query: Query = {}, as?: As) => ({ path: '/brands', query, as });
export const balances = (query: Query = {}, as?: As) => {
  const required = { customer_id: ownCustomer, type: 'CHECKING' };
  return { path: '/balances', query: { ...required, ...query }, as };
};
export const list = { brands, balances };
