/** The OpenAPI document, derived from the same contract that the service uses. */
import { type Environment, environments, keyPrefixes } from '../environments.ts';
import { retryableStatuses } from '../errors.ts';
import { brandsPerSecond, cursorLifetimeHours } from '../limits.ts';
import { apiVersion, basePath, type ListingName, type Operation, operations } from '../operations.ts';
import { scopeMeanings } from '../permissions.ts';
import { capitalized } from '../sentence.ts';
import { listingTexts, samplesOf } from './listings.ts';
import { asSent, cursorText } from './patterns.ts';
import { errorResponses, headersIn, type Place, responsesOf, type Setting } from './responses.ts';
import { schemas } from './schemas.ts';

/** Requests per second of one partner. A listing without a rate is not limited. */
export type Rates = Readonly<Partial<Record<ListingName, number>>>;

const exampleHosts: Readonly<Record<Environment, string>> = {
  production: 'network.example',
  sandbox: 'sandbox.network.example',
};

/** The server of an environment. Without variables: some tools use `https://{host}` literally. */
function serverOf(environment: Environment, publicUrl = `https://${exampleHosts[environment]}`): object {
  return { url: publicUrl + basePath, description: capitalized(environment), 'x-internal': false };
}

/** The service that serves the document comes first, then each other environment. */
function serversOf(place: Place | undefined): object[] {
  const others = environments.filter((environment) => environment !== place?.environment);
  const own = place === undefined ? [] : [serverOf(place.environment, place.publicUrl)];
  return [...own, ...others.map((environment) => serverOf(environment))];
}

const anyPlace: Place = { environment: 'production', publicUrl: `https://${exampleHosts.production}` };

const limited = operations.filter(({ defaultRate }) => defaultRate > 0);
const defaultRates: Rates = Object.fromEntries(limited.map(({ name, defaultRate }) => [name, defaultRate]));

/** `place` is the service that serves the document. The document of the repository has none. */
export function openApiDocument(place?: Place, rates = defaultRates): object {
  const listing = operations.find(({ name }) => rates[name] !== undefined)?.name ?? 'brands';
  const setting: Setting = { ...(place ?? anyPlace), listing, rate: rates[listing] ?? brandsPerSecond };
  const paths = operations.map((operation) => [
    operation.path.slice(basePath.length),
    { get: operationObject(operation, rates[operation.name], setting) },
  ]);
  return {
    // Not 3.1.1: some generators refuse it.
    openapi: '3.1.0',
    info,
    servers: serversOf(place),
    tags,
    security: [{ ApiKey: [] }],
    paths: Object.fromEntries(paths),
    components: {
      schemas,
      parameters: Object.fromEntries(operations.flatMap(parameterComponents)),
      headers: headersIn(setting),
      responses: errorResponses(operations, setting),
      securitySchemes: { ApiKey: apiKeyScheme },
    },
  };
}

const inWords = (list: readonly number[]) => new Intl.ListFormat('en-GB').format(list.map(String));

const info = {
  title: 'Partner Network',
  version: apiVersion,
  summary: 'List your brands, and the balances of customers who gave you a grant.',
  description: [
    'Two read-only listings: your brands, and the balances of customers who gave you a grant.',
    '**Authentication.** Send your API key in the header `Authorization: Bearer <key>`, from your servers ' +
      'only. There are no CORS headers: a key does not belong in a web page.',
    '**Environments.** Production (the default) and sandbox have separate base URLs, keys and data. Every ' +
      'base URL ends in `/network/v1`.',
    '**Pagination.** A listing returns one page at a time, in ascending order of `id`. If a response has a ' +
      '`cursor`, send it back with the same other parameters to get the next page. A response without a ' +
      `\`cursor\` is the last page. A cursor expires after ${cursorLifetimeHours} hours.`,
    '**Errors.** Every response with a status other than 2xx has the body `{"errors": [...]}`. Retry ' +
      `${inWords(retryableStatuses)}. First wait for the time in \`Retry-After-Ms\` or \`Retry-After\`, ` +
      'if the response has one. After any other status, the same request fails again.',
    '**Versions.** The version is in the path: `/network/v1`. Within a version, only optional ' +
      'fields, parameters, error codes and headers are added. Ignore those that you do not know. A change ' +
      'that could break your program gets a new path, such as `/network/v2`. A beta operation may change in any way.',
    'HEAD returns the headers of GET. OPTIONS needs no key and returns 204 with `Allow`.',
  ].join('\n\n'),
  contact: { name: 'Partner Network' },
  license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
};

const tags = operations.map(({ name }) => ({
  name: capitalized(name),
  description: listingTexts[name].tag,
}));

const apiKeyScheme = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'API key',
  description: [
    'Exactly one header `Authorization: Bearer <key>` with a complete API key. A key is not a JWT: it ' +
      'contains no data.',
    `Production keys start with \`${keyPrefixes.production}\`, sandbox keys with ` +
      `\`${keyPrefixes.sandbox}\`. A key works in its own environment only, and for its scopes only:`,
    Object.entries(scopeMeanings)
      .map(([scope, meaning]) => `- \`${scope}\`: ${meaning}`)
      .join('\n'),
  ].join('\n\n'),
  'x-scopes': scopeMeanings,
};

function operationObject(operation: Operation, rate: number | undefined, setting: Setting): object {
  const { id, name, scope, stability, parameters } = operation;
  const limit =
    rate === undefined
      ? 'No rate limit is set. If one is set, the RateLimit headers report it.'
      : `Rate limit: ${rate} requests in any span of one second, for all keys of a partner together.`;
  return {
    operationId: id,
    summary: `List ${name}`,
    description: `${listingTexts[name].description} Requires the scope \`${scope}\`. ${limit}`,
    tags: [capitalized(name)],
    security: [{ ApiKey: [scope] }],
    parameters: documented(parameters).map((parameter) => ({
      $ref: `#/components/parameters/${componentName(operation, parameter)}`,
    })),
    responses: responsesOf(operation, setting),
    'x-stability': stability,
    'x-codeSamples': samplesOf(operation),
    ...(rate !== undefined && { 'x-rate-limit': { requests: rate, seconds: 1, per: 'partner' } }),
  };
}

/** The names of parameters with those of pagination last. Errors are in the order of the specification. */
function documented(parameters: Operation['parameters']): string[] {
  const isOfPages = (name: string) => name === 'cursor' || name === 'limit';
  return Object.keys(parameters).toSorted(
    (left, right) => Number(isOfPages(left)) - Number(isOfPages(right)),
  );
}

/** `customer_id` becomes CustomerId: generators make types of these names. */
function componentName({ name }: Operation, parameter: string): string {
  // "Type" alone would not say what it is a type of.
  if (parameter === 'type') return `${listingTexts[name].record.name}Type`;
  return parameter.split('_').map(capitalized).join('');
}

function parameterComponents(operation: Operation): [string, object][] {
  return Object.entries(operation.parameters).map(([name, parameter]) => {
    const { required, description, example } = parameter;
    const { description: _, ...bounds } = asSent(parameter.schema);
    const schema = name === 'cursor' ? { ...bounds, pattern: cursorText } : bounds;
    const shown = { name, in: 'query', required, description, schema };
    return [componentName(operation, name), example === undefined ? shown : { ...shown, example }];
  });
}
