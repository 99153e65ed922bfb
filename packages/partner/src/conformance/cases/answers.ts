/** Promises about every answer of the run, and about the OpenAPI document. They come last. */
import { keyPrefixPattern } from '@partner-network/contract/environments';
import { listings } from '@partner-network/contract/operations';
import { balanceSchema, brandSchema } from '@partner-network/contract/records';
import { Cases, type Check, requireErrors } from '../case.ts';
import { canonical, contentOf, type Schema } from '../json.ts';
import { nobody, type Request } from '../probe.ts';
import type { Answer } from '../send.ts';

type Kind = (answer: Answer) => boolean;

/** Finds the first answer of the run that breaks the promise. */
const everyAnswer =
  (isKept: Kind): Check =>
  async ({ answers }) =>
    answers.find((answer) => answer.status > 0 && !isKept(answer));

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
const essence = ({ properties = {}, required = [] }: Schema) => {
  const types = Object.entries(properties).map(([name, field]) => [name, (field as Schema).type]);
  return canonical([Object.fromEntries(types), required.toSorted()]);
};

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
  const hasParameters = listings.every(({ name, parameters }) => {
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

const specified = new Cases('7')
  .promise('errors.records', 'Every 400 of a listing has a list of Error records')
  .holds(everyAnswer((one) => !isPage(one) || one.status !== 400 || requireErrors(one)));

const errors = new Cases('Errors')
  .promise('errors.everywhere', 'Every answer that is not 2xx has a list of Error records, on every path')
  .holds(everyAnswer((one) => one.sent.startsWith('HEAD ') || one.status < 300 || requireErrors(one)))
  .promise('errors.no-values', 'No error repeats a key or a value of over 64 characters')
  .holds(everyAnswer((one) => one.status < 400 || !repeated.test(contentOf(one))))
  .promise('headers.www-authenticate', 'Every 401 has WWW-Authenticate: Bearer')
  .holds(header(({ status }) => status === 401, 'www-authenticate', /^Bearer$/))
  .promise('headers.allow', 'Every 405, and every answer to OPTIONS, has Allow')
  .holds(header(({ status }) => status === 405 || status === 204, 'allow', /^GET, HEAD, OPTIONS$/))
  .promise('headers.no-cors', 'No answer has a CORS header')
  .holds(everyAnswer(({ rawHeaders }) => !rawHeaders.some((name) => /^access-control-/i.test(name))));

const onTheWire = new Cases('Records on the wire')
  .promise('headers.content-type', 'Listings answer with application/json; charset=utf-8')
  .holds(header(isPage, 'content-type', /^application\/json; charset=utf-8$/))
  .promise('headers.nosniff', 'Listings answer with nosniff')
  .holds(header(isPage, 'x-content-type-options', /^nosniff$/))
  .promise('headers.no-store', 'Listings answer with no-store')
  .holds(header(isPage, 'cache-control', /^no-store$/))
  .promise('headers.request-id', 'Every answer has an X-Request-Id')
  .holds(header(() => true, 'x-request-id', /./))
  .promise('headers.own-request-id', 'The X-Request-Id of a caller is ignored')
  .holds(header(() => true, 'x-request-id', /^(?!conformance)/))
  .promise('headers.request-id-unique', 'No two answers have the same X-Request-Id')
  .holds(uniqueIds);

const rate = new Cases('Rate limit')
  .promise('headers.rate-limit-policy', 'Brands answer with RateLimit-Policy')
  .holds(header(isLimited, 'ratelimit-policy', /^"brands";q=50;w=1$/))
  .promise('headers.retry-after', 'Every 429 has Retry-After-Ms in milliseconds')
  .holds(header(({ status }) => status === 429, 'retry-after-ms', /^[1-9][0-9]{0,4}$/))
  .promise('headers.rate-limit', 'Brands answer with RateLimit')
  .holds(header(isLimited, 'ratelimit', /^"brands";r=([1-4]?[0-9]);t=[01]$/));

const documents = new Cases('Errors')
  .promise('openapi.served', 'The OpenAPI document is served without a key')
  .gets(200, openApi, '"openapi"')
  .promise(
    'openapi.answers',
    'The OpenAPI document describes the parameters, statuses and records of the run',
  )
  .holds(described)
  .promise('docs.served', 'The start page of the site is served without a key')
  .gets(200, outside('/docs'), '<html')
  .promise('placeholder.served', 'The placeholder image is served without a key')
  .gets(200, outside('/assets/brand-placeholder.png'), 'PNG');

export const answers = [specified, errors, onTheWire, rate, documents];
