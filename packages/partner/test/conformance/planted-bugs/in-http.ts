/** Bugs in methods, paths, headers, the rate limit and the OpenAPI document. */
import { openApiPath } from '@partner-network/contract/operations';
import { asked, inHeader, inReply, inRequest, json, plantedIn, withKey } from './plant.ts';
import { type Bug, headerIn, type Reply, type Sent, withHeader, without } from './proxy.ts';

const isError = ({ status }: Reply) => status >= 400;
const isPage = ({ status }: Reply, sent: Sent) => status === 200 && asked(sent).listing !== undefined;

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

/** Answers another path than the one that was asked for. */
const atPath = (change: (target: string) => string): Bug =>
  inRequest((sent) => ({ ...sent, target: change(sent.target) }));

export const bugsInHttp = plantedIn({
  'http.post: POST is answered like GET': inRequest((sent) =>
    sent.method === 'POST' ? { ...sent, method: 'GET' } : sent,
  ),
  'http.delete: DELETE has the status 404': inReply((reply, sent) =>
    sent.method === 'DELETE' ? { ...reply, status: 404 } : reply,
  ),
  'headers.allow: a 405 has no Allow header': inHeader('Allow', undefined, ({ status }) => status === 405),
  'http.options: OPTIONS needs a key': inRequest((sent) =>
    sent.method === 'OPTIONS' ? { ...sent, method: 'GET' } : sent,
  ),
  'http.head: HEAD has a body': async (sent, service) => {
    const reply = await service(sent);
    return sent.method === 'HEAD' ? { ...reply, afterwards: '{"brands":[]}' } : reply;
  },
  'http.head: HEAD has no rate limit headers': inReply((reply, { method }) =>
    method === 'HEAD'
      ? { ...reply, headers: ['ratelimit', 'ratelimit-policy'].reduce(without, reply.headers) }
      : reply,
  ),
  'http.head: HEAD is not allowed': inReply((reply, { method }) =>
    method === 'HEAD' ? { ...reply, status: 405 } : reply,
  ),
  'http.path.slash: a path with a trailing slash is answered': atPath((target) =>
    target.replace(/\/(?=\?|$)/, ''),
  ),
  'http.path.case: a path in upper case is answered': atPath((target) =>
    target.replace(/^[^?]*/, (path) => path.toLowerCase()),
  ),
  'errors.everywhere +6: an unknown path has an answer in HTML': inReply((reply) =>
    reply.status === 404
      ? { ...reply, headers: withHeader(reply.headers, 'Content-Type', 'text/html'), body: '<h1>404</h1>' }
      : reply,
  ),
  'headers.no-cors: another site may read the answers: a CORS header': inHeader(
    'Access-Control-Allow-Origin',
    '*',
  ),
  'headers.no-store: pages have no Cache-Control': inHeader('Cache-Control', undefined, isPage),
  'headers.no-store: errors may be cached': inHeader('Cache-Control', 'max-age=60', isError),
  'headers.nosniff: X-Content-Type-Options is missing': inHeader('X-Content-Type-Options', undefined),
  'headers.content-type: pages are sent as text': inHeader(
    'Content-Type',
    'text/plain; charset=utf-8',
    isPage,
  ),
  'headers.request-id: X-Request-Id is missing on errors': inHeader('X-Request-Id', undefined, isError),
  'headers.request-id-unique: two answers have the same X-Request-Id': inHeader(
    'X-Request-Id',
    '7b7d3c4e-0000-4000-8000-000000000000',
  ),
  "headers.own-request-id: the caller's X-Request-Id is used": inReply((reply, sent) => {
    const own = headerIn(sent.headers, 'x-request-id');
    return own === undefined ? reply : { ...reply, headers: withHeader(reply.headers, 'X-Request-Id', own) };
  }),
  'http.two-hosts: two Host headers are accepted': inRequest((sent) => ({
    ...sent,
    headers: withHeader(sent.headers, 'Host', headerIn(sent.headers, 'host') ?? 'service'),
  })),
  'http.absolute-form: an absolute target is not found': atPath((target) =>
    target.startsWith('http') ? '/absolute' : target,
  ),
  'http.1.0: HTTP/1.0 is not found': inRequest((sent) =>
    sent.version === '1.0' ? { ...sent, target: '/old' } : sent,
  ),
  'http.body: a GET with a body is not found': inRequest((sent) =>
    sent.hasBody && sent.method === 'GET' ? { ...sent, target: '/body' } : sent,
  ),
  'http.over-16-kib: a request over 16 KiB is answered': inRequest((sent) => ({
    ...sent,
    headers: sent.headers.map((text) => text.slice(0, 8_000)),
  })),
  'http.15-kib: a request of 12 KiB is too large': inRequest((sent) =>
    sent.headers.join().length > 12_000
      ? { ...sent, headers: [...sent.headers, 'X-More', 'x'.repeat(8_000)] }
      : sent,
  ),
  'placeholder.served: the placeholder image is not found': atPath((target) =>
    target.replace('/assets/', '/images/'),
  ),
  'docs.served: the reference page is not found': atPath((target) =>
    target === '/docs' ? '/documents' : target,
  ),
  'headers.rate-limit-policy: the policy of the rate limit is another one': inHeader(
    'RateLimit-Policy',
    '"brands";q=100;w=1',
    isPage,
  ),
  'headers.rate-limit: RateLimit is missing on a 400': inHeader(
    'RateLimit',
    undefined,
    ({ status }) => status === 400,
  ),
  'openapi.served: the OpenAPI document is not found': atPath((target) =>
    target === openApiPath ? `${openApiPath}/none` : target,
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
});

/** Bugs that only --burst can show. */
export const bugsInRate = plantedIn({
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
  'burst.refused +4: a request over the rate is a 503': inReply((reply) =>
    reply.status === 429 ? { ...reply, status: 503 } : reply,
  ),
});
