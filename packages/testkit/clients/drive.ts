/** Runs the calls of scenarios with the JavaScript client, as `clients/python/test/drive.py` for Python. */
import { inspect } from 'node:util';
import { ApiError, PartnerNetwork, type PartnerNetworkError } from '../../client/src/index.ts';
import type { Call, ErrorOutcome, Options, Outcome } from './scenario.ts';

export interface Run {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly options: Options;
  readonly calls: readonly Call[];
}

/** `shown` is the error with everything in it. */
export type Driven = Required<Outcome> & { readonly shown: string };

export async function drive({ calls, options, ...access }: Run): Promise<Driven[]> {
  const network = new PartnerNetwork({ ...options, ...access });
  const outcomes: Driven[] = [];
  for (const call of calls) outcomes.push(await outcomeOf(network, call));
  return outcomes;
}

async function outcomeOf(
  network: PartnerNetwork,
  { listing = 'brands', params = {} }: Call,
): Promise<Driven> {
  const pages: string[][] = [];
  const records: object[] = [];
  let cursor: string | null = null;
  const arrived = () => ({ pages, records, cursor });
  try {
    const list = network[listing].list(params as never);
    for await (const page of list.pages() as AsyncIterable<{ cursor?: string }>) {
      const items = (page as unknown as Record<string, { id: string }[]>)[listing]!;
      pages.push(items.map(({ id }) => id));
      records.push(...items);
      cursor = page.cursor ?? null;
    }
    return { ...arrived(), error: null, shown: '' };
  } catch (error) {
    const shown = inspect(error, { showHidden: true, depth: Infinity });
    return { ...arrived(), error: errorOf(error as PartnerNetworkError), shown };
  }
}

/** The names in Python for names in JavaScript. */
const names: Readonly<Record<string, string>> = {
  ConnectionError: 'NetworkError',
  TimeoutError: 'RequestTimeout',
};

function errorOf(error: PartnerNetworkError): ErrorOutcome {
  const kind = names[error.name] ?? error.name;
  const message = error.message.replace('baseUrl', 'base_url');
  if (!(error instanceof ApiError)) return { kind, message };
  const { status, category, code, field, detail, requestId, retryAfterMs, errors } = error;
  const values = { category, code, field, detail, requestId, retryAfterMs };
  const orNull = Object.entries(values).map(([name, value]) => [name, value ?? null]);
  return { kind, message, status, errors, ...Object.fromEntries(orNull) };
}
