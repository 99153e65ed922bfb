/** Promises about every answer of the run, and about the OpenAPI document. They come last. */
import { keyPrefixPattern } from '@partner-network/contract/environments';
import { operations } from '@partner-network/contract/operations';
import { balanceSchema, brandSchema } from '@partner-network/contract/records';
import { type Check, requireErrors, section } from '../case.ts';
import { canonical, contentOf, type Schema } from '../json.ts';
import { nobody, type Probe, type Request } from '../probe.ts';
import type { Answer } from '../send.ts';

type Kind = (answer: Answer) => boolean;

/** Finds the first answer of the run that breaks the promise. */
const everyAnswer = (isKept: Kind) => async (probe: Probe) =>
  probe.answers.find((answer) => answer.status > 0 && !isKept(answer));

/** Every answer of a kind has this header. */
const header = (isMeant: Kind, name: string, value: RegExp) =>
  everyAnswer((answer) => !isMeant(answer) || value.test(answer.header(name) ?? ''));

/** An answer of one of the two listings to GET. */
const isPage = ({ path = '', sent }: Answer) => /^.(brands|balances)$/.test(path) && sent.startsWith('GET ');
const isLimited = (one: Answer) =>
  isPage(one) && one.path === '/brands' && [200, 400, 429].includes(one.status);

const uniqueIds: Check = (probe) => {
  const seen = new Set<unknown>();
  return everyAnswer((one) => seen.size < seen.add(one.header('x-request-id') ?? one).size)(probe);
};

/** The types of fields, and which are required. Their order does not matter. */
const essence = ({ properties = {}, required = [] }: Schema) =>
  canonical([
    Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, (field as Schema).type])),
    required.toSorted(),
  ]);

const openApi: Request = { path: '/openapi.json', as: nobody };

/** Finds out whether the document has every status of the run, and the contract's records and parameters. */
const described: Check = async (probe) => {
  const answer = await probe.send(openApi);
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

/** A request outside of the base URL. */
const outside = (path: string): Request => ({
  lines: ({ base }) => [`GET ${path} HTTP/1.1`, `Host: ${base.host}`],
});

// biome-ignore format: a case has two lines, its promise and how it is checked.
export const answers = [
  section('7', {
    'errors.records': { promise: 'Every 400 of a listing has a list of Error records',
      check: everyAnswer((one) => !isPage(one) || one.status !== 400 || requireErrors(one)) },
  }),
  section('Errors', {
    'errors.everywhere': { promise: 'Every answer that is not 2xx has a list of Error records, on every path',
      check: everyAnswer((one) => one.sent.startsWith('HEAD ') || one.status < 300 || requireErrors(one)) },
    'errors.no-values': { promise: 'No error repeats a key or a value of over 64 characters',
      check: everyAnswer((one) => one.status < 400 || !repeated.test(contentOf(one))) },
    'headers.www-authenticate': { promise: 'Every 401 has WWW-Authenticate: Bearer',
      check: header(({ status }) => status === 401, 'www-authenticate', /^Bearer$/) },
    'headers.allow': { promise: 'Every 405, and every answer to OPTIONS, has Allow',
      check: header(({ status }) => status === 405 || status === 204, 'allow', /^GET, HEAD, OPTIONS$/) },
    'headers.no-cors': { promise: 'No answer has a CORS header',
      check: everyAnswer(({ rawHeaders }) => !rawHeaders.some((name) => /^access-control-/i.test(name))) },
  }),
  section('Records on the wire', {
    'headers.content-type': { promise: 'Listings answer with application/json; charset=utf-8',
      check: header(isPage, 'content-type', /^application\/json; charset=utf-8$/) },
    'headers.nosniff': { promise: 'Listings answer with nosniff',
      check: header(isPage, 'x-content-type-options', /^nosniff$/) },
    'headers.no-store': { promise: 'Listings answer with no-store',
      check: header(isPage, 'cache-control', /^no-store$/) },
    'headers.request-id': { promise: 'Every answer has an X-Request-Id',
      check: header(() => true, 'x-request-id', /./) },
    'headers.own-request-id': { promise: 'The X-Request-Id of a caller is ignored',
      check: header(() => true, 'x-request-id', /^(?!conformance)/) },
    'headers.request-id-unique': { promise: 'No two answers have the same X-Request-Id', check: uniqueIds },
  }),
  section('Rate limit', {
    'headers.rate-limit-policy': { promise: 'Brands answer with RateLimit-Policy',
      check: header(isLimited, 'ratelimit-policy', /^"brands";q=50;w=1$/) },
    'headers.retry-after': { promise: 'Every 429 has Retry-After-Ms in milliseconds',
      check: header(({ status }) => status === 429, 'retry-after-ms', /^[1-9][0-9]{0,4}$/) },
    'headers.rate-limit': { promise: 'Brands answer with RateLimit',
      check: header(isLimited, 'ratelimit', /^"brands";r=([1-4]?[0-9]);t=[01]$/) },
  }),
  section('Errors', {
    'openapi.served': { promise: 'The OpenAPI document is served without a key',
      ...openApi, gets: 200, mentions: '"openapi"' },
    'openapi.answers': { check: described,
      promise: 'The OpenAPI document describes the parameters, statuses and records of the run' },
    'docs.served': { promise: 'The reference page is served without a key',
      ...outside('/docs'), gets: 200, mentions: '<html' },
    'placeholder.served': { promise: 'The placeholder image is served without a key',
      ...outside('/assets/brand-placeholder.png'), gets: 200, mentions: 'PNG' },
  }),
].flat();
