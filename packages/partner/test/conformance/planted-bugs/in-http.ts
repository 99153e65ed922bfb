/** Bugs in HEAD, headers, the rate limit and the OpenAPI document. */
import { openApiPath } from '@partner-network/contract/operations';
import { asked, inHeader, inReply, json, withKey } from './plant.ts';
import { type Bug, type Bugs, headerIn, type Reply, withHeader, without } from './proxy.ts';

const isError = ({ status }: Reply) => status >= 400;

interface Document {
  readonly paths: Record<string, { readonly get: { readonly parameters: unknown[] } }>;
  readonly components: {
    readonly schemas: Record<
      'Balance' | 'Brand',
      { properties: Record<string, unknown>; required: string[] }
    >;
  };
}

/** Changes the OpenAPI document. */
const inDocument = (change: (document: Document) => void): Bug =>
  inReply((reply, sent) => {
    if (reply.status !== 200 || sent.target !== openApiPath || sent.method !== 'GET') return reply;
    const document = JSON.parse(reply.body);
    change(document);
    return json(reply, document);
  });

export const bugsInHttp: Bugs = {
  'headers.www-authenticate: a 401 has no WWW-Authenticate': inHeader('WWW-Authenticate', undefined),
  'headers.allow: a 405 has no Allow header': inHeader('Allow', undefined, ({ status }) => status === 405),
  'http.head: HEAD has a body': async (sent, service) => {
    const reply = await service(sent);
    return sent.method === 'HEAD' ? { ...reply, afterwards: '{"brands":[]}' } : reply;
  },
  'http.head: HEAD has no rate limit headers': inReply((reply, { method }) =>
    method === 'HEAD'
      ? { ...reply, headers: ['ratelimit', 'ratelimit-policy'].reduce(without, reply.headers) }
      : reply,
  ),
  'headers.no-store: errors may be cached': inHeader('Cache-Control', 'max-age=60', isError),
  'headers.request-id-unique: two answers have the same X-Request-Id': inHeader(
    'X-Request-Id',
    '7b7d3c4e-0000-4000-8000-000000000000',
  ),
  "headers.own-request-id: the caller's X-Request-Id is used": inReply((reply, sent) => {
    const own = headerIn(sent.headers, 'x-request-id');
    return own === undefined ? reply : { ...reply, headers: withHeader(reply.headers, 'X-Request-Id', own) };
  }),
  'headers.rate-limit: RateLimit is missing on a 400': inHeader(
    'RateLimit',
    undefined,
    ({ status }) => status === 400,
  ),
  'openapi.answers: the OpenAPI document describes an amount as a string': inDocument(({ components }) => {
    components.schemas.Balance.properties.amount = { type: 'string' };
  }),
  'openapi.answers: the OpenAPI document requires a field that brands may lack': inDocument(
    ({ components }) => components.schemas.Brand.required.push('color'),
  ),
  'openapi.answers: the OpenAPI document lacks an operation': inDocument(
    ({ paths }) => delete paths['/balances'],
  ),
  'openapi.answers: the OpenAPI document lacks a parameter': inDocument(({ paths }) =>
    paths['/brands']!.get.parameters.pop(),
  ),
};

/** Bugs that only --burst can show. */
export const bugsInRate: Bugs = {
  'burst.rate: a partner gets more than 50 requests a second': async (sent, service, supplied) => {
    const reply = await service(sent);
    return reply.status === 429
      ? service(withKey(sent, supplied.PARTNER_NETWORK_OTHER_PARTNER_API_KEY))
      : reply;
  },
  'headers.retry-after: a 429 does not say when to retry': inReply((reply) =>
    reply.status === 429
      ? { ...reply, headers: ['retry-after', 'retry-after-ms'].reduce(without, reply.headers) }
      : reply,
  ),
  'burst.rate: the rate is counted by calendar seconds': (() => {
    const admitted = new Map<number, number>();
    return async (sent, service, supplied) => {
      const second = Math.floor(Date.now() / 1_000);
      const count = (admitted.get(second) ?? 0) + 1;
      const reply = await service(sent);
      if (asked(sent).listing !== 'brands' || ![200, 429].includes(reply.status)) return reply;
      admitted.set(second, count);
      const isAdmitted = reply.status === 429 && count <= 50;
      return isAdmitted ? service(withKey(sent, supplied.PARTNER_NETWORK_OTHER_PARTNER_API_KEY)) : reply;
    };
  })(),
  'burst.refused: a request over the rate is a 503': inReply((reply) =>
    reply.status === 429 ? { ...reply, status: 503 } : reply,
  ),
};
