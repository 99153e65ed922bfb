/** Bugs in credentials, scopes and grants, and between partners. */
import type { Supplied } from '../../../src/conformance/probe.ts';
import {
  accepts,
  acceptsQuery,
  asked,
  inError,
  inHeader,
  inPage,
  inRefusal,
  json,
  keyOf,
  plantedIn,
  withKey,
  withQuery,
} from './plant.ts';
import { type Bug, headerIn, without } from './proxy.ts';

/** Accepts a key that the service refuses, as if it were the partner's own. */
const acceptsKey =
  (variable: keyof Supplied): Bug =>
  (sent, service, supplied) =>
    service(keyOf(sent) === supplied[variable] ? withKey(sent, supplied.PARTNER_NETWORK_API_KEY) : sent);

/** Accepts an Authorization header of this form, whatever its key is. */
const acceptsHeader = (form: RegExp) =>
  accepts('UNAUTHORIZED', (sent, supplied) =>
    form.test(headerIn(sent.headers, 'authorization') ?? '')
      ? withKey(sent, supplied.PARTNER_NETWORK_API_KEY)
      : undefined,
  );

/** Adds a brand of the partner to the pages of the other partner. */
export function leaksBrand(): Bug {
  let own: Record<string, unknown> | undefined;
  return (sent, service, supplied) => {
    const isOther = keyOf(sent) === supplied.PARTNER_NETWORK_OTHER_PARTNER_API_KEY;
    const leak = inPage('brands', (page) => {
      if (isOther && own !== undefined) page.brands.unshift(own);
      if (!isOther) own ??= page.brands[0];
    });
    return leak(sent, service, supplied);
  };
}

/** Repeats the key in the error about it. */
export const repeatsKey = inError('UNAUTHORIZED', (error, sent) => ({
  ...error,
  detail: `${keyOf(sent)} is unknown.`,
}));

export const bugsInAccess = plantedIn({
  'credentials.required +5: a request without a key is answered': accepts('UNAUTHORIZED', (sent, supplied) =>
    headerIn(sent.headers, 'authorization') === undefined
      ? withKey(sent, supplied.PARTNER_NETWORK_API_KEY)
      : undefined,
  ),
  'credentials.unknown: an unknown key is answered': accepts('UNAUTHORIZED', (sent, supplied) =>
    /^Bearer pn_/.test(headerIn(sent.headers, 'authorization') ?? '') &&
    without(sent.headers, 'authorization').length === sent.headers.length - 2
      ? withKey(sent, supplied.PARTNER_NETWORK_API_KEY)
      : undefined,
  ),
  'credentials.revoked: a revoked key is accepted': acceptsKey('PARTNER_NETWORK_REVOKED_API_KEY'),
  'credentials.expired: an expired key is accepted': acceptsKey('PARTNER_NETWORK_EXPIRED_API_KEY'),
  'credentials.other-environment: a key of the other environment is accepted': acceptsKey(
    'PARTNER_NETWORK_OTHER_ENVIRONMENT_API_KEY',
  ),
  'credentials.revoked: a revoked key is answered like an unknown one': inError(
    'API_KEY_REVOKED',
    (error) => ({
      ...error,
      category: 'AUTHENTICATION_ERROR',
      code: 'UNAUTHORIZED',
    }),
  ),
  'credentials.two-headers: two Authorization headers are accepted': accepts('UNAUTHORIZED', (sent) => {
    const one = headerIn(sent.headers, 'authorization');
    const rest = without(sent.headers, 'authorization');
    return one !== undefined && rest.length < sent.headers.length - 2
      ? { ...sent, headers: [...rest, 'Authorization', one] }
      : undefined;
  }),
  'credentials.scheme-case: the scheme must be written as Bearer': async (sent, service) => {
    const value = headerIn(sent.headers, 'authorization') ?? 'Bearer';
    const isOther = /^bearer /i.test(value) && !value.startsWith('Bearer ');
    return service(isOther ? { ...sent, headers: without(sent.headers, 'authorization') } : sent);
  },
  'credentials.other-scheme: a key is accepted under the scheme Basic': acceptsHeader(/^Basic /),
  'credentials.no-scheme: a key without a scheme is accepted': acceptsHeader(/^pn_/),
  'credentials.not-a-key: any word is accepted as a key': acceptsHeader(/^Bearer (?!pn_)\S+$/),
  'headers.www-authenticate: a 401 has no WWW-Authenticate': inHeader('WWW-Authenticate', undefined),
  'scopes.required: scopes are ignored': acceptsKey('PARTNER_NETWORK_BRANDS_ONLY_API_KEY'),
  'scopes.brands: a key needs both scopes for either listing': async (sent, service, supplied) => {
    const isLess = keyOf(sent) === supplied.PARTNER_NETWORK_BRANDS_ONLY_API_KEY;
    return service(isLess ? { ...sent, target: sent.target.replace('/brands', '/balances') } : sent);
  },
  'scopes.balances: a missing scope is not named': inError('INSUFFICIENT_SCOPES', (error) => ({
    ...error,
    detail: 'You may not.',
  })),
  'credentials.before-parameters: parameters are checked before the key': async (sent, service, supplied) => {
    const [reply, withOwn] = [await service(sent), withKey(sent, supplied.PARTNER_NETWORK_API_KEY)];
    const other = reply.status === 401 ? await service(withOwn) : reply;
    return other.status === 400 ? other : reply;
  },
  'scopes.balances: parameters are checked before the scope': async (sent, service, supplied) => {
    const [reply, withOwn] = [await service(sent), withKey(sent, supplied.PARTNER_NETWORK_API_KEY)];
    const other = reply.status === 403 ? await service(withOwn) : reply;
    return other.status === 400 ? other : reply;
  },
  'grants.required: grants are ignored: a customer without a grant has no balances': inRefusal(
    'GRANT_NOT_FOUND',
    (reply, _errors, sent) =>
      sent.target.includes('grant_id') ? reply : { ...json(reply, { balances: [] }), status: 200 },
  ),
  'grants.unknown-id: an unknown grant is accepted if another grant is active': acceptsQuery(
    'balances',
    'GRANT_NOT_FOUND',
    (query) => query.delete('grant_id'),
  ),
  "isolation.grant: another partner's grant is answered differently from an unknown one": inError(
    'GRANT_NOT_FOUND',
    (error, sent, supplied) =>
      asked(sent).query.get('grant_id') === supplied.PARTNER_NETWORK_GRANT_ID
        ? { ...error, detail: 'This grant is not yours.' }
        : error,
  ),
  "isolation.balances: another partner's customer is answered differently from an unknown one": inError(
    'GRANT_NOT_FOUND',
    (error, sent, supplied) =>
      keyOf(sent) === supplied.PARTNER_NETWORK_OTHER_PARTNER_API_KEY &&
      asked(sent).query.get('customer_id') === supplied.PARTNER_NETWORK_CUSTOMER_ID
        ? { ...error, detail: 'Ask this customer.' }
        : error,
  ),
  'isolation.customer: a customer without a grant is answered differently from an unknown one': inError(
    'GRANT_NOT_FOUND',
    (error, sent, supplied) =>
      asked(sent).query.get('customer_id') === supplied.PARTNER_NETWORK_CUSTOMER_ID_WITHOUT_GRANT
        ? { ...error, detail: 'Ask this customer.' }
        : error,
  ),
  'balances.cursor.every-page: a grant is not checked after the first page': async (
    sent,
    service,
    supplied,
  ) => {
    const { query, listing } = asked(sent);
    const isLater = listing === 'balances' && query.has('cursor');
    return service(
      isLater ? withQuery(sent, (next) => next.set('grant_id', supplied.PARTNER_NETWORK_GRANT_ID!)) : sent,
    );
  },
  "isolation.brands: a partner sees another partner's brand": leaksBrand(),
  'errors.no-values: an error repeats the key': repeatsKey,
});
