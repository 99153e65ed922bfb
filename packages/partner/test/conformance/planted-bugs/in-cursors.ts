/** Bugs in cursors. */
import {
  accepts,
  acceptsQuery,
  asked,
  inError,
  json,
  keyOf,
  plantedIn,
  withKey,
  withQuery,
} from './plant.ts';
import type { Bug, Reply } from './proxy.ts';

/** A listing with an error in place of its page. */
const refuse = (reply: Reply, code: string, field: string): Reply => ({
  ...json(reply, { errors: [{ category: 'INVALID_REQUEST_ERROR', code, detail: 'Do not.', field }] }),
  status: 400,
});

const withoutCursor = (query: URLSearchParams) => query.delete('cursor');

/** Takes a cursor of one listing for the start of the other. */
function ofOther(from: string, to: string): Bug {
  const issued = new Set<unknown>();
  return async (sent, service) => {
    const { listing, query } = asked(sent);
    const isForeign = listing === to && issued.has(query.get('cursor'));
    const reply = await service(isForeign ? withQuery(sent, withoutCursor) : sent);
    if (listing === from && reply.status === 200 && sent.method === 'GET') issued.add(cursorIn(reply));
    return reply;
  };
}

export const bugsInCursors = plantedIn({
  'brands.cursor.other-partner: a cursor works for another partner': accepts(
    'INVALID_CURSOR',
    (sent, supplied) =>
      keyOf(sent) === supplied.PARTNER_NETWORK_OTHER_PARTNER_API_KEY
        ? withKey(sent, supplied.PARTNER_NETWORK_API_KEY)
        : undefined,
  ),
  'brands.cursor.other-listing: a cursor of balances works for brands, from the start': ofOther(
    'balances',
    'brands',
  ),
  'balances.cursor.other-listing: a cursor of brands works for balances, from the start': ofOther(
    'brands',
    'balances',
  ),
  'brands.cursor.other-filter: a cursor works with another filter': accepts('INVALID_CURSOR', (sent) =>
    withQuery(sent, (query) => query.delete('reference_id')),
  ),
  'balances.cursor.other-customer: a cursor works for another customer': (() => {
    const issued = new Map<unknown, string>();
    return async (sent, service) => {
      const { listing, query } = asked(sent);
      if (listing !== 'balances') return service(sent);
      const first = await service(sent);
      const target = issued.get(query.get('cursor'));
      const isForeign = first.status !== 200 && target !== undefined && keyOf(sent) !== undefined;
      if (first.status === 200) issued.set(cursorIn(first), sent.target);
      return isForeign ? service({ ...sent, target }) : first;
    };
  })(),
  'brands.cursor.changed +8: a changed cursor starts a new walk': acceptsQuery(
    'brands',
    'INVALID_CURSOR',
    withoutCursor,
  ),
  'balances.cursor.changed: the last character of a cursor does not count': (() => {
    const issued: string[] = [];
    return async (sent, service) => {
      const used = asked(sent).query.get('cursor');
      const meant = issued.find((cursor) => cursor.slice(0, -1) === used?.slice(0, -1));
      const reply = await service(meant ? withQuery(sent, (query) => query.set('cursor', meant)) : sent);
      const cursor = reply.status === 200 ? cursorIn(reply) : undefined;
      if (typeof cursor === 'string') issued.push(cursor);
      return reply;
    };
  })(),
  'brands.cursor.again +5: a cursor works once only': (() => {
    const used = new Set<string>();
    return async (sent, service) => {
      const cursor = asked(sent).query.get('cursor');
      const reply = await service(sent);
      if (cursor === null || reply.status !== 200) return reply;
      if (used.has(cursor)) return refuse(reply, 'INVALID_CURSOR', 'cursor');
      used.add(cursor);
      return reply;
    };
  })(),
  'brands.cursor.other-limit: a cursor does not work with another limit': (() => {
    const limits = new Map<unknown, string | null>();
    return async (sent, service) => {
      const { query } = asked(sent);
      const reply = await service(sent);
      if (reply.status !== 200 || sent.method !== 'GET') return reply;
      const issued = limits.get(query.get('cursor'));
      if (issued !== undefined && issued !== query.get('limit'))
        return refuse(reply, 'INVALID_CURSOR', 'cursor');
      limits.set(cursorIn(reply), query.get('limit'));
      return reply;
    };
  })(),
  'isolation.cursor: the answer to a cursor of another partner says so': inError(
    'INVALID_CURSOR',
    (error, sent, supplied) =>
      keyOf(sent) === supplied.PARTNER_NETWORK_OTHER_PARTNER_API_KEY && !sent.target.includes('conformance-')
        ? { ...error, detail: 'This cursor is not yours.' }
        : error,
  ),
  'brands.cursor.no-key: a cursor needs no key': accepts('UNAUTHORIZED', (sent, supplied) =>
    asked(sent).query.has('cursor') ? withKey(sent, supplied.PARTNER_NETWORK_API_KEY) : undefined,
  ),
});

function cursorIn({ body }: Reply): unknown {
  try {
    return JSON.parse(body).cursor;
  } catch {
    return undefined;
  }
}
