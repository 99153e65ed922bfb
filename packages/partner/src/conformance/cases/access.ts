/** Cursors, keys, scopes, grants, and what a partner may learn of another. */
import { type Check, ofBoth, section } from '../case.ts';
import { canonical } from '../json.ts';
import { balances, brands, idIn, keyIn, list, madeUp, nobody, unknownKey } from '../probe.ts';
import { changedCursorOf, cursorOf, page, someRecords } from './walks.ts';

/** Finds a brand of this partner in an answer to another partner. */
const leak: Check = async (probe) => {
  // Without this key, nothing is sent.
  otherPartner(probe);
  const own = (await someRecords(probe, 'brands')).records;
  for (const query of [{}, { reference_id: String(own.at(-1)!.reference_id) }]) {
    const { answer, body } = await page(probe, 'brands', query, otherPartner);
    const content = canonical(body);
    if (own.some((record) => content.includes(canonical(record)))) return answer;
  }
  return undefined;
};

const otherPartner = keyIn('PARTNER_NETWORK_OTHER_PARTNER_API_KEY');
const brandsOnly = keyIn('PARTNER_NETWORK_BRANDS_ONLY_API_KEY');
const withoutGrant = { customer_id: idIn('PARTNER_NETWORK_CUSTOMER_ID_WITHOUT_GRANT') };
const grant_id = idIn('PARTNER_NETWORK_GRANT_ID');
const refusedCursor = { cursor: 'INVALID_CURSOR' } as const;

// biome-ignore format: a case has two lines, its promise and how it is checked.
export const access = [
  section('Pagination', {
    ...ofBoth((listing) => ({
      'cursor.again': { promise: 'A cursor gives the same page again',
        ...list[listing]({ limit: 1, cursor: cursorOf(listing) }), sameWith: {} },
      'cursor.other-limit': { promise: 'limit may change between pages',
        ...list[listing]({ limit: 3, cursor: cursorOf(listing) }), gets: 200 },
      'cursor.made-up': { promise: 'A made-up cursor is refused',
        ...list[listing]({ cursor: madeUp }), gets: refusedCursor },
      'cursor.changed': { promise: 'A changed cursor is refused',
        ...list[listing]({ cursor: changedCursorOf(listing) }), gets: refusedCursor },
      'cursor.no-key': { promise: 'A cursor does not replace the key',
        ...list[listing]({ cursor: cursorOf(listing) }, nobody), gets: 'UNAUTHORIZED' },
    })),
    'brands.cursor.other-partner': { promise: 'A cursor does not work for another partner',
      ...brands({ limit: 1, cursor: cursorOf('brands') }, otherPartner), gets: refusedCursor },
    'brands.cursor.other-filter': { promise: 'A cursor does not work with another reference_id',
      ...brands({ limit: 1, reference_id: madeUp, cursor: cursorOf('brands') }), gets: refusedCursor },
    'brands.cursor.other-listing': { promise: 'A cursor of balances does not work for brands',
      ...brands({ limit: 1, cursor: cursorOf('balances') }), gets: refusedCursor },
    'balances.cursor.other-listing': { promise: 'A cursor of brands does not work for balances',
      ...balances({ cursor: cursorOf('brands') }), gets: refusedCursor },
    'balances.cursor.other-customer': { promise: 'A cursor does not work for another customer',
      ...balances({ ...withoutGrant, cursor: cursorOf('balances') }), gets: '4xx' },
    'balances.cursor.every-page': { promise: 'The grant is checked on every page',
      ...balances({ grant_id: madeUp, cursor: cursorOf('balances') }),
      gets: { grant_id: 'GRANT_NOT_FOUND' } },
  }),
  section('5', {
    'credentials.required': { promise: 'A request without a key gets no brands',
      path: '/brands', as: nobody, gets: '4xx' },
    'scopes.required': { promise: 'A key without BALANCES_READ gets no balances',
      ...balances({}, brandsOnly), gets: '4xx' },
    'grants.required': { promise: 'The balances of a customer without a grant are refused',
      ...balances(withoutGrant), gets: '4xx' },
    'grants.named': { promise: 'The grant may be named by grant_id', ...balances({ grant_id }), gets: 200 },
  }),
  section('Credentials', {
    'credentials.missing': { promise: 'A request without a key is refused',
      path: '/brands', as: nobody, gets: 'UNAUTHORIZED' },
    'credentials.before-parameters': { promise: 'The key is checked first',
      path: '/balances?limit=x', as: nobody, gets: 'UNAUTHORIZED' },
    'credentials.no-scheme': { promise: 'A key without a scheme is refused',
      path: '/brands', as: unknownKey, gets: 'UNAUTHORIZED' },
    'credentials.other-scheme': { promise: 'Another scheme is refused',
      path: '/brands', as: (probe) => `Basic ${unknownKey(probe)}`, gets: 'UNAUTHORIZED' },
    'credentials.not-a-key': { promise: 'A text that is not a key is refused',
      path: '/brands', as: () => `Bearer ${madeUp()}`, gets: 'UNAUTHORIZED' },
    'credentials.unknown': { promise: 'An unknown key is refused',
      path: '/brands', as: (probe) => `Bearer ${unknownKey(probe)}`, gets: 'UNAUTHORIZED' },
    'credentials.two-headers': { promise: 'Two Authorization headers are refused',
      lines: ({ base, ownKey }) => [`GET ${base.pathname}/brands HTTP/1.1`, `Host: ${base.host}`,
        `Authorization: ${ownKey}`, `Authorization: ${ownKey}`], gets: 'UNAUTHORIZED' },
    'credentials.scheme-case': { promise: 'The scheme may be written in any case',
      path: '/brands', as: ({ ownKey }) => ownKey.replace('Bearer', 'bEARER'), gets: 200 },
    'credentials.revoked': { promise: 'A revoked key has its own code',
      path: '/brands', as: keyIn('PARTNER_NETWORK_REVOKED_API_KEY'), gets: 'API_KEY_REVOKED' },
    'credentials.expired': { promise: 'An expired key has its own code',
      path: '/brands', as: keyIn('PARTNER_NETWORK_EXPIRED_API_KEY'), gets: 'API_KEY_EXPIRED' },
    'credentials.other-environment': { promise: 'A key of the other environment has its own code',
      path: '/brands', as: keyIn('PARTNER_NETWORK_OTHER_ENVIRONMENT_API_KEY'),
      gets: 'API_KEY_ENVIRONMENT_MISMATCH' },
    'scopes.balances': { promise: 'A missing scope is named, before the parameters are checked',
      path: '/balances?limit=x', as: brandsOnly, gets: 'INSUFFICIENT_SCOPES', mentions: 'BALANCES_READ' },
    'scopes.brands': { promise: 'A key with BRANDS_READ alone lists brands',
      path: '/brands?limit=1', as: brandsOnly, gets: 200 },
  }),
  section('Grants', {
    'grants.any': { promise: 'Without grant_id, any active grant will do', ...balances(), gets: 200 },
    'grants.none': { promise: 'A missing grant has its code and no field',
      ...balances(withoutGrant), gets: 'GRANT_NOT_FOUND' },
    'grants.unknown-id': { promise: 'An unknown grant is refused',
      ...balances({ grant_id: madeUp }), gets: { grant_id: 'GRANT_NOT_FOUND' } },
    'grants.after-parameters': { promise: 'The grant is checked last',
      ...balances({ customer_id: madeUp, limit: 0 }), gets: { limit: 'VALUE_TOO_LOW' } },
  }),
  section('Terms', {
    'isolation.customer': { promise: 'A customer without a grant is answered like an unknown customer',
      ...balances(withoutGrant), sameWith: { customer_id: madeUp } },
    'isolation.balances': { ...balances({}, otherPartner), sameWith: { customer_id: madeUp },
      promise: 'For another partner, this customer is answered like an unknown customer' },
    'isolation.grant': { promise: 'For another partner, this grant is answered like an unknown grant',
      ...balances({ grant_id }, otherPartner), sameWith: { grant_id: madeUp } },
    'isolation.cursor': { promise: 'For another partner, this cursor is answered like a made-up one',
      ...brands({ cursor: cursorOf('brands') }, otherPartner), sameWith: { cursor: madeUp } },
    'isolation.brands': { promise: 'Another partner does not see these brands', check: leak },
  }),
].flat();
