/**
 * One bug for each kind of check, by the case that must catch it. Cases that look at one answer have no bug:
 * our own service passes them, and deployments that are wrong throughout fail them.
 */
import { basePath, openApiPath } from '@partner-network/contract/operations';
import { type Bug, headerIn, type Reply, type Sent, without } from './buggy-proxy.ts';

type Values = Record<string, unknown>;
type Listing = 'brands' | 'balances';
type Page = Record<Listing, Values[]> & { cursor?: string };

const urlOf = ({ target }: Sent) => new URL(target, 'http://service');

const json = (reply: Reply, content: unknown) => ({ ...reply, body: Buffer.from(JSON.stringify(content)) });

/** Changes responses. */
const inReply =
  (change: (reply: Reply, sent: Sent) => Reply): Bug =>
  async (sent, service) =>
    change(await service(sent), sent);

/** Changes the JSON of the responses with this status to GET of a path, in place or by returning it. */
const inJson = <Content>(
  status: number,
  path: string,
  change: (content: Content, query: URLSearchParams) => unknown,
): Bug =>
  inReply((reply, sent) => {
    const { pathname, searchParams } = urlOf(sent);
    if (reply.status !== status || pathname !== path || sent.method === 'OPTIONS') return reply;
    const content = JSON.parse(String(reply.body));
    return json(reply, change(content, searchParams) ?? content);
  });

/** Changes the pages of a listing. */
const inPage = (listing: Listing, change: (page: Page, query: URLSearchParams) => unknown) =>
  inJson<Page>(200, `${basePath}/${listing}`, change);

/** Changes all errors of the responses whose first error has this code. */
const inErrors = (code: string, change: (errors: readonly Values[], sent: Sent) => readonly Values[]) =>
  inReply((reply, sent) => {
    if (reply.status < 400) return reply;
    const { errors } = JSON.parse(String(reply.body));
    return errors[0].code === code ? json(reply, { errors: change(errors, sent) }) : reply;
  });

interface Document {
  readonly paths: Record<string, { readonly get: { readonly parameters: unknown[]; responses: Values } }>;
  readonly components: { readonly schemas: Record<string, { properties: Values }> };
}

const inDocument = (change: (document: Document) => unknown) =>
  inJson<Document>(200, openApiPath, (document) => void change(document));

const inPages: Readonly<Record<string, Bug>> = {
  'brands.walk.complete: the first record after a cursor is lost': inPage('brands', (page, query) => {
    if (query.has('cursor')) page.brands.shift();
  }),
  'balances.walk.unique: a record is twice on a page': inPage('balances', ({ balances }) => {
    if (balances.length > 2) balances[2] = balances[1]!;
  }),
  'balances.walk.order: the balances of a page come in the other direction': inPage('balances', (page) => {
    page.balances.reverse();
  }),
  'brands.page.not-empty: pages in the middle of a walk are empty': inPage('brands', (page, query) =>
    query.has('cursor') && page.cursor !== undefined ? { ...page, brands: [] } : page,
  ),
  'brands.page.default-limit: a page with limit=50 has one record less': inPage('brands', (page, query) => {
    if (query.get('limit') === '50') page.brands.pop();
  }),
  'brands.filter.match: the filter finds one of several brands': inPage('brands', (page, query) =>
    query.has('reference_id') ? { brands: page.brands.slice(0, 1) } : page,
  ),
  'brands.filter.match: the filter finds another brand': inPage('brands', ({ brands }, query) => {
    if (query.has('reference_id') && brands.length > 0) brands[0]!.reference_id = 'another';
  }),
  'brands.cursor.again: every second answer to a cursor lacks a record': (() => {
    let isSecond = true;
    return inPage('brands', (page, query) => {
      isSecond = query.has('cursor') && !isSecond;
      if (isSecond) page.brands.pop();
    });
  })(),
};

/** Writes JSON so that no character of a text stands for itself. */
export function escaped(value: unknown): string {
  const hexOf = (unit: string) => unit.charCodeAt(0).toString(16).padStart(4, '0');
  return JSON.stringify(value).replace(
    /"(?:[^"\\]|\\.)*"/g,
    (text) => `"${JSON.parse(text).replace(/./gs, (unit: string) => `\\u${hexOf(unit)}`)}"`,
  );
}

/** Changes the format of every JSON response. */
export const inFormat =
  (format: (value: unknown) => string, bug: Bug = (sent, service) => service(sent)): Bug =>
  async (sent, service, supplied) => {
    const reply = await bug(sent, service, supplied);
    const isJson = headerIn(reply.headers, 'content-type')?.startsWith('application/json');
    return isJson ? { ...reply, body: Buffer.from(format(JSON.parse(String(reply.body)))) } : reply;
  };

/** The same JSON with the fields of each object in the opposite order. */
const reordered = (value: unknown) =>
  JSON.parse(JSON.stringify(value), (_, part) =>
    part instanceof Object && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).reverse())
      : part,
  );

/** Adds a brand of the partner to the pages of the other partner. These have another format than its own. */
function leaksBrand(): Bug {
  let own: Values | undefined;
  const keep = inPage('brands', ({ brands }) => {
    own ??= brands[0];
  });
  const leak = inFormat(
    (value) => escaped(reordered(value)),
    inPage('brands', (page) => own && { ...page, brands: [own, ...page.brands] }),
  );
  return (sent, service, supplied) => {
    const key = headerIn(sent.headers, 'authorization')?.replace(/^bearer /i, '');
    const isOther = key === supplied.PARTNER_NETWORK_OTHER_PARTNER_API_KEY;
    return (isOther ? leak : keep)(sent, service, supplied);
  };
}

const inErrorsAndAccess: Readonly<Record<string, Bug>> = {
  'balances.all-at-once: faults are reported in another order': inErrors(
    'MISSING_REQUIRED_PARAMETER',
    (errors) => errors.toReversed(),
  ),
  'errors.records: an error has a category that does not exist': inErrors('INVALID_ENUM_VALUE', (errors) =>
    errors.map((error) => ({ ...error, category: 'VALIDATION_ERROR' })),
  ),
  'brands.limit.over-100: an error has no detail': inErrors('VALUE_TOO_HIGH', (errors) =>
    errors.map(({ detail: _, ...error }) => error),
  ),
  'brands.unknown.suggestion: an unknown parameter gets no suggestion': inErrors(
    'UNKNOWN_QUERY_PARAMETER',
    (errors) => errors.map((error) => ({ ...error, detail: 'Remove it.' })),
  ),
  'errors.no-values: an error repeats a long value, with every character escaped': inFormat(
    escaped,
    inErrors('VALUE_TOO_LONG', (errors, sent) =>
      errors.map((error) => ({ ...error, detail: `Shorten ${[...urlOf(sent).searchParams.values()]}.` })),
    ),
  ),
  'isolation.grant: one grant is answered with one space more than another': async (sent, service, by) => {
    const reply = await service(sent);
    const isOwn = urlOf(sent).searchParams.get('grant_id') === by.PARTNER_NETWORK_GRANT_ID;
    return isOwn && reply.status === 403 ? { ...reply, body: Buffer.from(`${reply.body} `) } : reply;
  },
  "isolation.brands: a partner sees another partner's brand, in another format": leaksBrand(),
};

const inHttp: Readonly<Record<string, Bug>> = {
  'http.head: HEAD has a body': inReply((reply, { method }) =>
    method === 'HEAD' ? { ...reply, afterwards: '{"brands":[]}' } : reply,
  ),
  'http.head: HEAD has no policy of the rate limit': inReply((reply, { method }) =>
    method === 'HEAD' ? { ...reply, headers: without(reply.headers, 'ratelimit-policy') } : reply,
  ),
  'headers.rate-limit: RateLimit is missing on a 400': inReply((reply) =>
    reply.status === 400 ? { ...reply, headers: without(reply.headers, 'ratelimit') } : reply,
  ),
  'openapi.answers: the OpenAPI document describes an amount as a string': inDocument(({ components }) => {
    components.schemas.Balance!.properties.amount = { type: 'string' };
  }),
  'openapi.answers: the OpenAPI document lacks a status': inDocument(
    ({ paths }) => delete paths['/brands']!.get.responses['400'],
  ),
  'openapi.answers: the OpenAPI document lacks a parameter': inDocument(({ paths }) =>
    paths['/brands']!.get.parameters.pop(),
  ),
};

export const plantedBugs: Readonly<Record<string, Bug>> = { ...inPages, ...inErrorsAndAccess, ...inHttp };
