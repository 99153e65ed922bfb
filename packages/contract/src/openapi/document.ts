/** The OpenAPI document, derived from the same contract that the service uses. */
import { type Environment, environments, keyPrefixes } from '../environments.ts';
import { retryableStatuses } from '../errors.ts';
import { brandsPerSecond, cursorLifetimeHours } from '../limits.ts';
import { basePath, type ListingName, type Operation, operations } from '../operations.ts';
import { scopeMeanings } from '../scopes.ts';
import { capitalized } from '../sentence.ts';
import { listingTexts, samplesOf } from './listings.ts';
import { asSent, cursorText } from './patterns.ts';
import { errorResponses, headersIn, type Place, responsesOf, type Setting } from './responses.ts';
import { schemas } from './schemas.ts';

/** Requests per second of one partner. A listing without a rate is not limited. */
export type Rates = Readonly<Partial<Record<ListingName, number>>>;

const descriptions: Readonly<Record<Environment, string>> = {
  production: `Production: keys that begin with ${keyPrefixes.production}.`,
  sandbox: `Sandbox: test keys, that begin with ${keyPrefixes.sandbox}.`,
};

const exampleHosts: Readonly<Record<Environment, string>> = {
  production: 'network.example',
  sandbox: 'sandbox.network.example',
};

/** The server of an environment. If its address is unknown here, the reader fills in the host. */
function serverOf(environment: Environment, publicUrl?: string): object {
  const host = {
    default: exampleHosts[environment],
    description: `The host of the ${environment} environment, as you were told it.`,
  };
  return {
    url: (publicUrl ?? 'https://{host}') + basePath,
    description: descriptions[environment],
    'x-internal': false,
    ...(publicUrl === undefined && { variables: { host } }),
  };
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
    openapi: '3.1.1',
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
  // The version of the interface, not of the server. Its first number is in the path.
  version: '1.0.0',
  summary: 'Brands and balances of a payments network, read-only.',
  description: [
    'Two read-only listings: your brands, and the balances of customers who granted it to you.',
    'Send your API key as `Authorization: Bearer <key>`, from your servers only: there are no CORS headers.',
    'Both listings are paged by an opaque cursor. Send it back with the same other parameters; an answer ' +
      `without one is the last. A cursor is good for ${cursorLifetimeHours} hours.`,
    'Every answer that is not a 2xx has the body `{"errors": […]}`. Retry ' +
      `${inWords(retryableStatuses)}, after the time in \`Retry-After-Ms\` or \`Retry-After\` where there ` +
      'is one; retrying anything else does not help.',
    'HEAD gives the headers of GET. OPTIONS needs no key, and answers 204 with `Allow`.',
    'New optional fields, error codes and headers may be added. Ignore those that you do not know.',
  ].join('\n\n'),
  contact: { name: 'Partner Network' },
  license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
};

const tags = operations
  .map(({ name }) => ({ name: capitalized(name), description: listingTexts[name].tag }))
  .toSorted((left, right) => (left.name < right.name ? -1 : 1));

const apiKeyScheme = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'API key',
  description: [
    'Exactly one header `Authorization: Bearer <key>`, with the whole of an API key. It is no JWT: there ' +
      'is nothing in it to read.',
    `Keys of production begin with \`${keyPrefixes.production}\`, those of the sandbox with ` +
      `\`${keyPrefixes.sandbox}\`. Each works in its own environment only, and for the scopes that it has.`,
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
      ? 'No rate limit is set; where one is, the RateLimit headers tell of it.'
      : `At most ${rate} requests of a partner, all its keys together, are admitted in any second.`;
  return {
    operationId: id,
    summary: `List ${name}`,
    description: `${listingTexts[name].description} Needs the scope \`${scope}\`. ${limit}`,
    tags: [capitalized(name)],
    security: [{ ApiKey: [scope] }],
    parameters: Object.keys(parameters).map((parameter) => ({
      $ref: `#/components/parameters/${componentName(operation, parameter)}`,
    })),
    responses: responsesOf(operation, setting),
    'x-stability': stability,
    'x-codeSamples': samplesOf(operation),
    ...(rate !== undefined && { 'x-rate-limit': { requests: rate, seconds: 1, per: 'partner' } }),
  };
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
