/** The API for partners, as its OpenAPI document and its reference show it. */
import { keyPrefixes } from '../environments.ts';
import { retryableStatuses } from '../errors.ts';
import { brandsPerSecond, cursorLifetimeHours } from '../limits.ts';
import { apiVersion, basePath, type ListingName, type ListingOperation, listings } from '../operations.ts';
import { scopeMeanings } from '../permissions.ts';
import { capitalized } from '../sentence.ts';
import type { Api } from './document.ts';
import { curlOf, listingTexts } from './listings.ts';
import { headersIn, type Place, pageOf, refusalOf, type Setting } from './responses.ts';
import { schemas } from './schemas.ts';

/** Requests per second of one partner. A listing without a rate is not limited. */
export type Rates = Readonly<Partial<Record<ListingName, number>>>;

/** Where the environments would be. Without variables: some tools use `https://{host}` literally. */
const examplePlaces: readonly Place[] = [
  { environment: 'production', publicUrl: 'https://network.example' },
  { environment: 'sandbox', publicUrl: 'https://sandbox.network.example' },
];

/** The service that serves the document comes first, then each other environment. */
function serversOf(place?: Place) {
  const others = examplePlaces.filter(({ environment }) => environment !== place?.environment);
  return [place ?? [], others].flat().map(({ environment, publicUrl }) => {
    return { url: publicUrl + basePath, description: capitalized(environment), 'x-internal': false };
  });
}

const limited = listings.filter(({ defaultRate }) => defaultRate > 0);
const defaultRates: Rates = Object.fromEntries(limited.map(({ name, defaultRate }) => [name, defaultRate]));

/** `place` is the service that serves the document. The document of the repository has none. */
export function partnersApi(place?: Place, rates = defaultRates): Api<ListingOperation> {
  const listing = listings.find(({ name }) => rates[name] !== undefined)?.name ?? 'brands';
  const setting: Setting = {
    ...(place ?? examplePlaces[0]!),
    listing,
    rate: rates[listing] ?? brandsPerSecond,
  };
  return {
    info,
    servers: serversOf(place),
    tags: listings.map(({ name, tag }) => ({ name: tag, description: listingTexts[name].tag })),
    basePath,
    operations: Object.fromEntries(listings.map((operation) => [operation.id, operation])),
    keys: { name: 'ApiKey', scheme },
    schemas,
    headers: headersIn(setting),
    parameterName,
    descriptionOf: ({ name, description, permission }) =>
      `${description} Requires the scope \`${permission}\`. ${limitText(rates[name])}`,
    curlOf,
    successOf: (operation) => pageOf(operation, setting),
    refusalOf: (operation, status) => refusalOf(operation, status, setting),
    extensionsOf: (operation) => {
      const rate = rates[operation.name];
      return {
        'x-stability': operation.stability,
        ...(rate !== undefined && { 'x-rate-limit': { requests: rate, seconds: 1, per: 'partner' } }),
      };
    },
  };
}

function limitText(rate: number | undefined): string {
  return rate === undefined
    ? 'No rate limit is set. If one is set, the RateLimit headers report it.'
    : `Rate limit: ${rate} requests in any span of one second, for all keys of a partner together.`;
}

/** `customer_id` becomes CustomerId: generators make types of these names. */
function parameterName({ result }: ListingOperation, parameter: string): string {
  // "Type" alone would not say what it is a type of.
  if (parameter === 'type') return `${result.of}Type`;
  return parameter.split('_').map(capitalized).join('');
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
      `${inWords([...retryableStatuses, 502, 504].toSorted())}. First wait for the time in ` +
      '`Retry-After-Ms` or `Retry-After`, if the response has one. After any other status, the same request fails again.',
    '**Versions.** The version is in the path: `/network/v1`. Within a version, only optional ' +
      'fields, parameters, error codes and headers are added. Ignore those that you do not know. A change ' +
      'that could break your program gets a new path, such as `/network/v2`. A beta operation may change in any way.',
    'HEAD returns the headers of GET. OPTIONS needs no key and returns 204 with `Allow`.',
  ].join('\n\n'),
  contact: { name: 'Partner Network' },
  license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
};

const scheme = {
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
