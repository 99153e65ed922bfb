/** The ways to plant a bug: in the request before the service sees it, or in the service's response. */
import { basePath } from '@partner-network/contract/operations';
import type { Supplied } from '../../../src/conformance/probe.ts';
import { type Bug, headerIn, type Reply, type Sent, withHeader, without } from './proxy.ts';

type Values = Record<string, unknown>;

interface Page {
  cursor?: unknown;
  readonly [listing: string]: unknown;
}

const listings = ['brands', 'balances'] as const;
type Listing = (typeof listings)[number];

/** The listing that a request asks for, and its parameters. */
export function asked({ target }: Sent): { readonly listing?: Listing; readonly query: URLSearchParams } {
  const { pathname, searchParams } = new URL(target, 'http://service');
  const listing = listings.find((name) => pathname === `${basePath}/${name}`);
  return { ...(listing && { listing }), query: searchParams };
}

/** The request with other parameters. Without a change, or if it is not UTF-8, it stays as it was written. */
export function withQuery(sent: Sent, change: (query: URLSearchParams) => void): Sent {
  if (/%zz|%C3%28/.test(sent.target)) return sent;
  const url = new URL(sent.target, 'http://service');
  const before = url.searchParams.toString();
  change(url.searchParams);
  return url.searchParams.toString() === before ? sent : { ...sent, target: url.pathname + url.search };
}

export function withKey(sent: Sent, key: string | undefined): Sent {
  return { ...sent, headers: withHeader(sent.headers, 'Authorization', `Bearer ${key}`) };
}

/** The key in the Authorization header. */
export function keyOf({ headers }: Sent): string | undefined {
  return headerIn(headers, 'authorization')?.replace(/^bearer /i, '');
}

export function json(reply: Reply, content: unknown): Reply {
  const body = JSON.stringify(content);
  const headers = withHeader(reply.headers, 'Content-Length', String(Buffer.byteLength(body)));
  return { ...reply, headers, body };
}

/** Changes requests. */
const inRequest =
  (change: (sent: Sent) => Sent): Bug =>
  (sent, service) =>
    service(change(sent));

/** Changes parameters of requests for a listing. */
export const inQuery = (listing: Listing, change: (query: URLSearchParams) => void): Bug =>
  inRequest((sent) => (asked(sent).listing === listing ? withQuery(sent, change) : sent));

/** Changes responses. */
export const inReply =
  (change: (reply: Reply, sent: Sent) => Reply): Bug =>
  async (sent, service) =>
    change(await service(sent), sent);

/** Changes the pages of a listing. HEAD gets the headers of the changed page. */
export const inPage =
  (
    listing: Listing,
    change: (page: Page & Record<Listing, Values[]>, query: URLSearchParams) => unknown,
  ): Bug =>
  async (sent, service) => {
    const { query, listing: found } = asked(sent);
    if (found !== listing || !['GET', 'HEAD'].includes(sent.method)) return service(sent);
    const reply = await service({ ...sent, method: 'GET' });
    if (reply.status !== 200) return reply;
    const page = JSON.parse(reply.body);
    return json(reply, change(page, query) ?? page);
  };

/** Changes every record of a listing. */
const inRecord = (listing: Listing, change: (record: Values, row: number) => Values): Bug =>
  inPage(listing, (page) => ({ ...page, [listing]: page[listing].map(change) }));

export const inBrand = (change: (record: Values, row: number) => Values) => inRecord('brands', change);
export const inBalance = (change: (record: Values, row: number) => Values) => inRecord('balances', change);

/** Changes the responses whose first error has this code. */
export const inRefusal = (
  code: string,
  change: (reply: Reply, errors: readonly Values[], sent: Sent, supplied: Supplied) => Reply,
): Bug =>
  async function changesRefusal(sent, service, supplied) {
    const reply = await service(sent);
    if (reply.status < 400 || reply.body === '') return reply;
    const { errors } = JSON.parse(reply.body);
    return errors[0].code === code ? change(reply, errors, sent, supplied) : reply;
  };

/** Changes errors with this code. */
export const inError = (
  code: string,
  change: (error: Values, sent: Sent, supplied: Supplied) => Values,
): Bug =>
  inRefusal(code, (reply, errors, sent, supplied) =>
    json(reply, { errors: errors.map((error) => change(error, sent, supplied)) }),
  );

/** Sets a header of responses, or removes it. */
export const inHeader = (
  name: string,
  value: string | undefined,
  where: (reply: Reply, sent: Sent) => boolean = () => true,
): Bug =>
  inReply((reply, sent) => {
    if (!where(reply, sent)) return reply;
    const rest = without(reply.headers, name.toLowerCase());
    return { ...reply, headers: value === undefined ? rest : [...rest, name, value] };
  });
