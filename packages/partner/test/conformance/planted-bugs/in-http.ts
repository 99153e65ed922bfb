/** Bugs in methods, paths, headers, the rate limit and the OpenAPI document. */
import { openApiPath } from '@partner-network/contract/operations';
import { asked, inHeader, inReply, inRequest, json, type Planted, withKey } from './plant.ts';
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

export const bugsInHttp: readonly Planted[] = [
  {
    bug: 'POST is answered like GET',
    caughtBy: 'http.post',
    plant: inRequest((sent) => (sent.method === 'POST' ? { ...sent, method: 'GET' } : sent)),
  },
  {
    bug: 'DELETE has the status 404',
    caughtBy: 'http.delete',
    plant: inReply((reply, sent) => (sent.method === 'DELETE' ? { ...reply, status: 404 } : reply)),
  },
  {
    bug: 'a 405 has no Allow header',
    caughtBy: 'headers.allow',
    plant: inHeader('Allow', undefined, ({ status }) => status === 405),
  },
  {
    bug: 'OPTIONS needs a key',
    caughtBy: 'http.options',
    plant: inRequest((sent) => (sent.method === 'OPTIONS' ? { ...sent, method: 'GET' } : sent)),
  },
  {
    bug: 'HEAD has a body',
    caughtBy: 'http.head',
    plant: async (sent, service) => {
      const reply = await service(sent);
      return sent.method === 'HEAD' ? { ...reply, afterwards: '{"brands":[]}' } : reply;
    },
  },
  {
    bug: 'HEAD has no rate limit headers',
    caughtBy: 'http.head',
    plant: inReply((reply, { method }) =>
      method === 'HEAD'
        ? { ...reply, headers: ['ratelimit', 'ratelimit-policy'].reduce(without, reply.headers) }
        : reply,
    ),
  },
  {
    bug: 'HEAD is not allowed',
    caughtBy: 'http.head',
    plant: inReply((reply, { method }) => (method === 'HEAD' ? { ...reply, status: 405 } : reply)),
  },
  {
    bug: 'a path with a trailing slash is answered',
    caughtBy: 'http.path.slash',
    plant: atPath((target) => target.replace(/\/(?=\?|$)/, '')),
  },
  {
    bug: 'a path in upper case is answered',
    caughtBy: 'http.path.case',
    plant: atPath((target) => target.replace(/^[^?]*/, (path) => path.toLowerCase())),
  },
  {
    bug: 'an unknown path has an answer in HTML',
    caughtBy: 'errors.everywhere',
    others: 6,
    plant: inReply((reply) =>
      reply.status === 404
        ? { ...reply, headers: withHeader(reply.headers, 'Content-Type', 'text/html'), body: '<h1>404</h1>' }
        : reply,
    ),
  },
  {
    bug: 'another site may read the answers: a CORS header',
    caughtBy: 'headers.no-cors',
    plant: inHeader('Access-Control-Allow-Origin', '*'),
  },
  {
    bug: 'pages have no Cache-Control',
    caughtBy: 'headers.no-store',
    plant: inHeader('Cache-Control', undefined, isPage),
  },
  {
    bug: 'errors may be cached',
    caughtBy: 'headers.no-store',
    plant: inHeader('Cache-Control', 'max-age=60', isError),
  },
  {
    bug: 'X-Content-Type-Options is missing',
    caughtBy: 'headers.nosniff',
    plant: inHeader('X-Content-Type-Options', undefined),
  },
  {
    bug: 'pages are sent as text',
    caughtBy: 'headers.content-type',
    plant: inHeader('Content-Type', 'text/plain; charset=utf-8', isPage),
  },
  {
    bug: 'X-Request-Id is missing on errors',
    caughtBy: 'headers.request-id',
    plant: inHeader('X-Request-Id', undefined, isError),
  },
  {
    bug: 'two answers have the same X-Request-Id',
    caughtBy: 'headers.request-id-unique',
    plant: inHeader('X-Request-Id', '7b7d3c4e-0000-4000-8000-000000000000'),
  },
  {
    bug: "the caller's X-Request-Id is used",
    caughtBy: 'headers.own-request-id',
    plant: inReply((reply, sent) => {
      const own = headerIn(sent.headers, 'x-request-id');
      return own === undefined
        ? reply
        : { ...reply, headers: withHeader(reply.headers, 'X-Request-Id', own) };
    }),
  },
  {
    bug: 'two Host headers are accepted',
    caughtBy: 'http.two-hosts',
    plant: inRequest((sent) => ({
      ...sent,
      headers: withHeader(sent.headers, 'Host', headerIn(sent.headers, 'host') ?? 'service'),
    })),
  },
  {
    bug: 'an absolute target is not found',
    caughtBy: 'http.absolute-form',
    plant: atPath((target) => (target.startsWith('http') ? '/absolute' : target)),
  },
  {
    bug: 'HTTP/1.0 is not found',
    caughtBy: 'http.1.0',
    plant: inRequest((sent) => (sent.version === '1.0' ? { ...sent, target: '/old' } : sent)),
  },
  {
    bug: 'a GET with a body is not found',
    caughtBy: 'http.body',
    plant: inRequest((sent) => (sent.hasBody && sent.method === 'GET' ? { ...sent, target: '/body' } : sent)),
  },
  {
    bug: 'a request over 16 KiB is answered',
    caughtBy: 'http.over-16-kib',
    plant: inRequest((sent) => ({ ...sent, headers: sent.headers.map((text) => text.slice(0, 8_000)) })),
  },
  {
    bug: 'a request of 12 KiB is too large',
    caughtBy: 'http.15-kib',
    plant: inRequest((sent) =>
      sent.headers.join().length > 12_000
        ? { ...sent, headers: [...sent.headers, 'X-More', 'x'.repeat(8_000)] }
        : sent,
    ),
  },
  {
    bug: 'the placeholder image is not found',
    caughtBy: 'placeholder.served',
    plant: atPath((target) => target.replace('/assets/', '/images/')),
  },
  {
    bug: 'the reference page is not found',
    caughtBy: 'docs.served',
    plant: atPath((target) => (target === '/docs' ? '/documents' : target)),
  },
  {
    bug: 'a listing has no RateLimit-Policy',
    caughtBy: 'headers.rate-limit-policy',
    plant: inHeader('RateLimit-Policy', undefined),
  },
  {
    bug: 'the policy of the rate limit is another one',
    caughtBy: 'headers.rate-limit-policy',
    plant: inHeader('RateLimit-Policy', '"brands";q=100;w=1', isPage),
  },
  {
    bug: 'RateLimit is missing on a 400',
    caughtBy: 'headers.rate-limit',
    plant: inHeader('RateLimit', undefined, ({ status }) => status === 400),
  },
  {
    bug: 'the OpenAPI document is not found',
    caughtBy: 'openapi.served',
    plant: atPath((target) => (target === openApiPath ? `${openApiPath}/none` : target)),
  },
  {
    bug: 'the OpenAPI document describes an amount as a string',
    caughtBy: 'openapi.answers',
    plant: inDocument(({ components }) => {
      components.schemas.Balance.properties.amount = { type: 'string' };
    }),
  },
  {
    bug: 'the OpenAPI document requires a field that brands may lack',
    caughtBy: 'openapi.answers',
    plant: inDocument(({ components }) => components.schemas.Brand.required.push('color')),
  },
  {
    bug: 'the OpenAPI document lacks an operation',
    caughtBy: 'openapi.answers',
    plant: inDocument(({ paths }) => delete paths['/balances']),
  },
  {
    bug: 'the OpenAPI document lacks a parameter',
    caughtBy: 'openapi.answers',
    plant: inDocument(({ paths }) => paths['/brands']!.get.parameters.pop()),
  },
];

/** Bugs that only --burst can show. */
export const bugsInRate: readonly Planted[] = [
  {
    bug: 'a partner gets more than 50 requests a second',
    caughtBy: 'burst.rate',
    plant: async (sent, service, given) => {
      const reply = await service(sent);
      return reply.status === 429
        ? service(withKey(sent, given.PARTNER_NETWORK_OTHER_PARTNER_API_KEY))
        : reply;
    },
  },
  {
    bug: 'a 429 does not say when to retry',
    caughtBy: 'headers.retry-after',
    plant: inReply((reply) =>
      reply.status === 429
        ? { ...reply, headers: ['retry-after', 'retry-after-ms'].reduce(without, reply.headers) }
        : reply,
    ),
  },
  {
    bug: 'the rate is counted by calendar seconds',
    caughtBy: 'burst.rate',
    plant: (() => {
      const admitted = new Map<number, number>();
      return async (sent, service, given) => {
        const second = Math.floor(Date.now() / 1_000);
        const count = (admitted.get(second) ?? 0) + 1;
        const reply = await service(sent);
        if (asked(sent).listing !== 'brands' || ![200, 429].includes(reply.status)) return reply;
        admitted.set(second, count);
        const isAdmitted = reply.status === 429 && count <= 50;
        return isAdmitted ? service(withKey(sent, given.PARTNER_NETWORK_OTHER_PARTNER_API_KEY)) : reply;
      };
    })(),
  },
  {
    bug: 'a request over the rate is a 503',
    caughtBy: 'burst.refused',
    others: 4,
    plant: inReply((reply) => (reply.status === 429 ? { ...reply, status: 503 } : reply)),
  },
];
