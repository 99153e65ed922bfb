/** Promises about every answer of the run, and about the OpenAPI document. They come last. */
import { keyPrefixPattern } from '@partner-network/contract/environments';
import { operations } from '@partner-network/contract/operations';
import { balanceSchema, brandSchema } from '@partner-network/contract/records';
import { canonical, contentOf } from '../content.ts';
import type { Schema } from '../schema.ts';
import type { Answer } from '../send.ts';
import { type Broken, type Find, type Finders, table, withoutErrors } from './table.ts';

/** Finds the first answer of the run that is broken. */
const every =
  (isBroken: (answer: Answer) => Broken | boolean): Find =>
  async ({ answers }) => {
    for (const answer of answers) {
      const broken = answer.status > 0 && isBroken(answer);
      if (broken) return broken === true ? answer : broken;
    }
    return undefined;
  };

/** An answer of one of the two listings to GET. */
const isPage = ({ path = '', method }: Answer) => /^.(brands|balances)$/.test(path) && method === 'GET';

const kinds: Readonly<Record<string, (answer: Answer) => boolean>> = {
  all: () => true,
  pages: isPage,
  limited: (one) => isPage(one) && one.path === '/brands' && [200, 400, 429].includes(one.status),
  '401': ({ status }) => status === 401,
  '429': ({ status }) => status === 429,
  '405': ({ status }) => status === 405 || status === 204,
};

/** The types of fields, and which are required. Their order does not matter. */
const essence = ({ properties = {}, required = [] }: Schema) =>
  canonical([
    Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, (field as Schema).type])),
    required.toSorted(),
  ]);

/** Finds out whether the document has every status of the run, and the contract's records and parameters. */
const misdescribed: Find = async (probe) => {
  const answer = await probe.get('/openapi.json', '');
  const { paths, components } = (answer.json ?? {}) as Schema;
  const isStatus = ({ path, status }: Answer) => paths?.[path!]?.get?.responses?.[status] !== undefined;
  const isRecord = (name: string, schema: Schema) =>
    essence(components?.schemas?.[name] ?? {}) === essence(schema);
  const isDescribed = isRecord('Brand', brandSchema) && isRecord('Balance', balanceSchema);
  const namesOf = (list: readonly Schema[] = []) =>
    list.map(({ $ref = '', name }) => name ?? components?.parameters?.[$ref.split('/').at(-1)]?.name);
  const hasParameters = operations.every(({ name, parameters }) => {
    const names = namesOf(paths?.[`/${name}`]?.get?.parameters);
    return Object.keys(parameters).every((parameter) => names.includes(parameter));
  });
  return isDescribed && hasParameters && probe.answers.filter(isPage).every(isStatus) ? undefined : answer;
};

/** A key, or a long value of a case, which is one character many times. */
const repeated = RegExp(`${keyPrefixPattern}\\w{20}|(.)\\1{64}`);

const finders: Finders = {
  lacks: (kind: string, name = '', ...value) => {
    const pattern = RegExp(`^${value.join(' ')}$`);
    return every((answer) => kinds[kind]!(answer) && !pattern.test(answer.header(name) ?? ''));
  },
  errors: () => every((one) => isPage(one) && one.status === 400 && withoutErrors(one)),
  allErrors: () => every((one) => one.method !== 'HEAD' && one.status >= 300 && withoutErrors(one)),
  repeats: () => every((one) => one.status >= 400 && repeated.test(contentOf(one))),
  cors: () => every(({ rawHeaders }) => rawHeaders.some((name) => /^access-control-/i.test(name))),
  sameId: () => async (probe) => {
    const seen = new Set<unknown>();
    return every((one) => seen.size === seen.add(one.header('x-request-id') ?? one).size)(probe);
  },
  misdescribed: () => misdescribed,
};

export const answers = table(
  `
# 7 specification
errors.records: Every 400 of a listing has a list of Error records | errors
# Errors decisions
errors.everywhere: Every answer that is not 2xx has a list of Error records, on every path | allErrors
errors.no-values: No error repeats a key or a value of over 64 characters | repeats
headers.www-authenticate: Every 401 has WWW-Authenticate: Bearer | lacks 401 www-authenticate Bearer
headers.allow: Every 405, and every answer to OPTIONS, has Allow | lacks 405 allow GET, HEAD, OPTIONS
headers.no-cors: No answer has a CORS header | cors
# Records on the wire decisions
headers.content-type: Listings answer with application/json; charset=utf-8 |
  lacks pages content-type application/json; charset=utf-8
headers.nosniff: Listings answer with nosniff | lacks pages x-content-type-options nosniff
headers.no-store: Listings answer with no-store | lacks pages cache-control no-store
headers.request-id: Every answer has an X-Request-Id | lacks all x-request-id .+
headers.own-request-id: The X-Request-Id of a caller is ignored | lacks all x-request-id ((?!conformance).+)?
headers.request-id-unique: No two answers have the same X-Request-Id | sameId
# Rate limit decisions
headers.rate-limit-policy: Brands answer with RateLimit-Policy |
  lacks limited ratelimit-policy "brands";q=50;w=1
headers.retry-after: Every 429 has Retry-After-Ms in milliseconds | lacks 429 retry-after-ms [1-9][0-9]{0,4}
headers.rate-limit: Brands answer with RateLimit | lacks limited ratelimit "brands";r=([1-4]?[0-9]);t=[01]
# Errors decisions
openapi.served: The OpenAPI document is served without a key |
  as:nobody /openapi.json -> 200 mentioning "openapi"
openapi.answers: The OpenAPI document describes the parameters, statuses and records of the run |
  misdescribed
docs.served: The reference page is served without a key |
  raw GET /docs HTTP/1.1; Host: {host} -> 200 mentioning <html
placeholder.served: The placeholder image is served without a key |
  raw GET /assets/brand-placeholder.png HTTP/1.1; Host: {host} -> 200 mentioning PNG
`,
  finders,
);
