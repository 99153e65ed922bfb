/** Bugs in credentials, scopes and grants, and between partners. */
import type { Given } from '../../../src/conformance/given.ts';
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
  type Planted,
  withKey,
  withQuery,
} from './plant.ts';
import { type Bug, headerIn, without } from './proxy.ts';

/** Accepts a key that the service refuses, as if it were the partner's own. */
const acceptsKey =
  (variable: keyof Given): Bug =>
  (sent, service, given) =>
    service(keyOf(sent) === given[variable] ? withKey(sent, given.PARTNER_NETWORK_API_KEY) : sent);

/** Adds a brand of the partner to the pages of the other partner. */
export function leaksBrand(): Bug {
  let own: Record<string, unknown> | undefined;
  return (sent, service, given) => {
    const isOther = keyOf(sent) === given.PARTNER_NETWORK_OTHER_PARTNER_API_KEY;
    const leak = inPage('brands', (page) => {
      if (isOther && own !== undefined) page.brands.unshift(own);
      if (!isOther) own ??= page.brands[0];
    });
    return leak(sent, service, given);
  };
}

/** Repeats the key in the error about it. */
export const repeatsKey = inError('UNAUTHORIZED', (error, sent) => ({
  ...error,
  detail: `${keyOf(sent)} is unknown.`,
}));

export const bugsInAccess: readonly Planted[] = [
  {
    bug: 'a request without a key is answered',
    caughtBy: 'credentials.required',
    others: 5,
    plant: accepts('UNAUTHORIZED', (sent, given) =>
      headerIn(sent.headers, 'authorization') === undefined
        ? withKey(sent, given.PARTNER_NETWORK_API_KEY)
        : undefined,
    ),
  },
  {
    bug: 'an unknown key is answered',
    caughtBy: 'credentials.unknown',
    plant: accepts('UNAUTHORIZED', (sent, given) =>
      /^Bearer pn_/.test(headerIn(sent.headers, 'authorization') ?? '') &&
      without(sent.headers, 'authorization').length === sent.headers.length - 2
        ? withKey(sent, given.PARTNER_NETWORK_API_KEY)
        : undefined,
    ),
  },
  {
    bug: 'a revoked key is accepted',
    caughtBy: 'credentials.revoked',
    plant: acceptsKey('PARTNER_NETWORK_REVOKED_API_KEY'),
  },
  {
    bug: 'an expired key is accepted',
    caughtBy: 'credentials.expired',
    plant: acceptsKey('PARTNER_NETWORK_EXPIRED_API_KEY'),
  },
  {
    bug: 'a key of the other environment is accepted',
    caughtBy: 'credentials.other-environment',
    plant: acceptsKey('PARTNER_NETWORK_OTHER_ENVIRONMENT_API_KEY'),
  },
  {
    bug: 'a revoked key is answered like an unknown one',
    caughtBy: 'credentials.revoked',
    plant: inError('API_KEY_REVOKED', (error) => ({
      ...error,
      category: 'AUTHENTICATION_ERROR',
      code: 'UNAUTHORIZED',
    })),
  },
  {
    bug: 'two Authorization headers are accepted',
    caughtBy: 'credentials.two-headers',
    plant: accepts('UNAUTHORIZED', (sent) => {
      const one = headerIn(sent.headers, 'authorization');
      const rest = without(sent.headers, 'authorization');
      return one !== undefined && rest.length < sent.headers.length - 2
        ? { ...sent, headers: [...rest, 'Authorization', one] }
        : undefined;
    }),
  },
  {
    bug: 'the scheme must be written as Bearer',
    caughtBy: 'credentials.scheme-case',
    plant: async (sent, service) => {
      const value = headerIn(sent.headers, 'authorization') ?? 'Bearer';
      const isOther = /^bearer /i.test(value) && !value.startsWith('Bearer ');
      return service(isOther ? { ...sent, headers: without(sent.headers, 'authorization') } : sent);
    },
  },
  {
    bug: 'a key is accepted under the scheme Basic',
    caughtBy: 'credentials.other-scheme',
    plant: accepts('UNAUTHORIZED', (sent, given) =>
      /^Basic /.test(headerIn(sent.headers, 'authorization') ?? '')
        ? withKey(sent, given.PARTNER_NETWORK_API_KEY)
        : undefined,
    ),
  },
  {
    bug: 'a key without a scheme is accepted',
    caughtBy: 'credentials.no-scheme',
    plant: accepts('UNAUTHORIZED', (sent, given) =>
      /^pn_/.test(headerIn(sent.headers, 'authorization') ?? '')
        ? withKey(sent, given.PARTNER_NETWORK_API_KEY)
        : undefined,
    ),
  },
  {
    bug: 'any word is accepted as a key',
    caughtBy: 'credentials.not-a-key',
    plant: accepts('UNAUTHORIZED', (sent, given) =>
      /^Bearer (?!pn_)\S+$/.test(headerIn(sent.headers, 'authorization') ?? '')
        ? withKey(sent, given.PARTNER_NETWORK_API_KEY)
        : undefined,
    ),
  },
  {
    bug: 'a key of the other environment is answered like an unknown one',
    caughtBy: 'credentials.other-environment',
    plant: inError('API_KEY_ENVIRONMENT_MISMATCH', (error) => ({
      ...error,
      category: 'AUTHENTICATION_ERROR',
      code: 'UNAUTHORIZED',
    })),
  },
  {
    bug: 'a 401 has no WWW-Authenticate',
    caughtBy: 'headers.www-authenticate',
    plant: inHeader('WWW-Authenticate', undefined),
  },
  {
    bug: 'an expired key has the status 403',
    caughtBy: 'credentials.expired',
    plant: inRefusal('API_KEY_EXPIRED', (reply) => ({ ...reply, status: 403 })),
  },
  {
    bug: 'scopes are ignored',
    caughtBy: 'scopes.required',
    plant: acceptsKey('PARTNER_NETWORK_BRANDS_ONLY_API_KEY'),
  },
  {
    bug: 'a key needs both scopes for either listing',
    caughtBy: 'scopes.brands',
    plant: async (sent, service, given) => {
      const isLess = keyOf(sent) === given.PARTNER_NETWORK_BRANDS_ONLY_API_KEY;
      return service(isLess ? { ...sent, target: sent.target.replace('/brands', '/balances') } : sent);
    },
  },
  {
    bug: 'a missing scope is not named',
    caughtBy: 'scopes.balances',
    plant: inError('INSUFFICIENT_SCOPES', (error) => ({ ...error, detail: 'You may not.' })),
  },
  {
    bug: 'parameters are checked before the key',
    caughtBy: 'credentials.before-parameters',
    plant: async (sent, service, given) => {
      const [reply, withOwn] = [await service(sent), withKey(sent, given.PARTNER_NETWORK_API_KEY)];
      const other = reply.status === 401 ? await service(withOwn) : reply;
      return other.status === 400 ? other : reply;
    },
  },
  {
    bug: 'parameters are checked before the scope',
    caughtBy: 'scopes.balances',
    plant: async (sent, service, given) => {
      const [reply, withOwn] = [await service(sent), withKey(sent, given.PARTNER_NETWORK_API_KEY)];
      const other = reply.status === 403 ? await service(withOwn) : reply;
      return other.status === 400 ? other : reply;
    },
  },
  {
    bug: 'grants are ignored: a customer without a grant has no balances',
    caughtBy: 'grants.required',
    plant: inRefusal('GRANT_NOT_FOUND', (reply, _errors, sent) =>
      sent.target.includes('grant_id') ? reply : { ...json(reply, { balances: [] }), status: 200 },
    ),
  },
  {
    bug: 'an unknown grant is accepted if another grant is active',
    caughtBy: 'grants.unknown-id',
    plant: acceptsQuery('balances', 'GRANT_NOT_FOUND', (query) => query.delete('grant_id')),
  },
  {
    bug: "another partner's grant is answered differently from an unknown one",
    caughtBy: 'isolation.grant',
    plant: inError('GRANT_NOT_FOUND', (error, sent, given) =>
      asked(sent).query.get('grant_id') === given.PARTNER_NETWORK_GRANT_ID
        ? { ...error, detail: 'This grant is not yours.' }
        : error,
    ),
  },
  {
    bug: "another partner's customer is answered differently from an unknown one",
    caughtBy: 'isolation.balances',
    plant: inError('GRANT_NOT_FOUND', (error, sent, given) =>
      keyOf(sent) === given.PARTNER_NETWORK_OTHER_PARTNER_API_KEY &&
      asked(sent).query.get('customer_id') === given.PARTNER_NETWORK_CUSTOMER_ID
        ? { ...error, detail: 'Ask this customer.' }
        : error,
    ),
  },
  {
    bug: 'a customer without a grant is answered differently from an unknown one',
    caughtBy: 'isolation.customer',
    plant: inError('GRANT_NOT_FOUND', (error, sent, given) =>
      asked(sent).query.get('customer_id') === given.PARTNER_NETWORK_CUSTOMER_ID_WITHOUT_GRANT
        ? { ...error, detail: 'Ask this customer.' }
        : error,
    ),
  },
  {
    bug: 'a grant is not checked after the first page',
    caughtBy: 'balances.cursor.every-page',
    plant: async (sent, service, given) => {
      const { query, listing } = asked(sent);
      const isLater = listing === 'balances' && query.has('cursor');
      return service(
        isLater ? withQuery(sent, (next) => next.set('grant_id', given.PARTNER_NETWORK_GRANT_ID!)) : sent,
      );
    },
  },
  {
    bug: "a partner sees another partner's brand",
    caughtBy: 'isolation.brands',
    plant: leaksBrand(),
  },
  {
    bug: 'an error repeats the key',
    caughtBy: 'errors.no-values',
    plant: repeatsKey,
  },
];
