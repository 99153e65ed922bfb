/** Cursors, keys, scopes, grants, and what a partner may learn of another. */
import { Cases, type Check } from '../case.ts';
import { canonical } from '../json.ts';
import { balances, brands, idIn, keyIn, list, madeUp, nobody, unknownKey } from '../probe.ts';
import { changedCursorOf, cursorOf, page, someRecords } from './pages.ts';

const otherPartner = keyIn('PARTNER_NETWORK_OTHER_PARTNER_API_KEY');
const brandsOnly = keyIn('PARTNER_NETWORK_BRANDS_ONLY_API_KEY');
const withoutGrant = { customer_id: idIn('PARTNER_NETWORK_CUSTOMER_ID_WITHOUT_GRANT') };
const grant_id = idIn('PARTNER_NETWORK_GRANT_ID');
const ofBrands = cursorOf('brands');
const ofBalances = cursorOf('balances');
const invalidCursor = { cursor: 'INVALID_CURSOR' } as const;
const unknownGrant = { grant_id: 'GRANT_NOT_FOUND' } as const;

const pagination = new Cases('Pagination')
  .ofBoth((listing) => {
    const page = list[listing];
    const cursor = cursorOf(listing);
    return new Cases()
      .promise('cursor.again', 'A cursor gives the same page again')
      .same(page({ limit: 1, cursor }), {})
      .promise('cursor.other-limit', 'limit may change between pages')
      .gets(200, page({ limit: 3, cursor }))
      .promise('cursor.made-up', 'A made-up cursor is refused')
      .gets(invalidCursor, page({ cursor: madeUp }))
      .promise('cursor.changed', 'A changed cursor is refused')
      .gets(invalidCursor, page({ cursor: changedCursorOf(listing) }))
      .promise('cursor.no-key', 'A cursor does not replace the key')
      .gets('UNAUTHORIZED', page({ cursor }, nobody));
  })
  .promise('brands.cursor.other-partner', 'A cursor does not work for another partner')
  .gets(invalidCursor, brands({ limit: 1, cursor: ofBrands }, otherPartner))
  .promise('brands.cursor.other-filter', 'A cursor does not work with another reference_id')
  .gets(invalidCursor, brands({ limit: 1, reference_id: madeUp, cursor: ofBrands }))
  .promise('brands.cursor.other-listing', 'A cursor of balances does not work for brands')
  .gets(invalidCursor, brands({ limit: 1, cursor: ofBalances }))
  .promise('balances.cursor.other-listing', 'A cursor of brands does not work for balances')
  .gets(invalidCursor, balances({ cursor: ofBrands }))
  .promise('balances.cursor.other-customer', 'A cursor does not work for another customer')
  .gets('4xx', balances({ ...withoutGrant, cursor: ofBalances }))
  .promise('balances.cursor.every-page', 'The grant is checked on every page')
  .gets(unknownGrant, balances({ grant_id: madeUp, cursor: ofBalances }));

const specified = new Cases('5')
  .promise('credentials.required', 'A request without a key gets no brands')
  .gets('4xx', { path: '/brands', as: nobody })
  .promise('scopes.required', 'A key without BALANCES_READ gets no balances')
  .gets('4xx', balances({}, brandsOnly))
  .promise('grants.required', 'The balances of a customer without a grant are refused')
  .gets('4xx', balances(withoutGrant))
  .promise('grants.named', 'The grant may be named by grant_id')
  .gets(200, balances({ grant_id }));

const credentials = new Cases('Credentials')
  .promise('credentials.missing', 'A request without a key is refused')
  .gets('UNAUTHORIZED', { path: '/brands', as: nobody })
  .promise('credentials.before-parameters', 'The key is checked first')
  .gets('UNAUTHORIZED', { path: '/balances?limit=x', as: nobody })
  .promise('credentials.no-scheme', 'A key without a scheme is refused')
  .gets('UNAUTHORIZED', { path: '/brands', as: unknownKey })
  .promise('credentials.other-scheme', 'Another scheme is refused')
  .gets('UNAUTHORIZED', { path: '/brands', as: (probe) => `Basic ${unknownKey(probe)}` })
  .promise('credentials.not-a-key', 'A text that is not a key is refused')
  .gets('UNAUTHORIZED', { path: '/brands', as: () => `Bearer ${madeUp()}` })
  .promise('credentials.unknown', 'An unknown key is refused')
  .gets('UNAUTHORIZED', { path: '/brands', as: (probe) => `Bearer ${unknownKey(probe)}` })
  .promise('credentials.two-headers', 'Two Authorization headers are refused')
  .gets('UNAUTHORIZED', {
    lines: ({ base, ownKey }) => [
      `GET ${base.pathname}/brands HTTP/1.1`,
      `Host: ${base.host}`,
      `Authorization: ${ownKey}`,
      `Authorization: ${ownKey}`,
    ],
  })
  .promise('credentials.scheme-case', 'The scheme may be written in any case')
  .gets(200, { path: '/brands', as: ({ ownKey }) => ownKey.replace('Bearer', 'bEARER') })
  .promise('credentials.revoked', 'A revoked key has its own code')
  .gets('API_KEY_REVOKED', { path: '/brands', as: keyIn('PARTNER_NETWORK_REVOKED_API_KEY') })
  .promise('credentials.expired', 'An expired key has its own code')
  .gets('API_KEY_EXPIRED', { path: '/brands', as: keyIn('PARTNER_NETWORK_EXPIRED_API_KEY') })
  .promise('credentials.other-environment', 'A key of the other environment has its own code')
  .gets('API_KEY_ENVIRONMENT_MISMATCH', {
    path: '/brands',
    as: keyIn('PARTNER_NETWORK_OTHER_ENVIRONMENT_API_KEY'),
  })
  .promise('scopes.balances', 'A missing scope is named, before the parameters are checked')
  .gets('INSUFFICIENT_SCOPES', { path: '/balances?limit=x', as: brandsOnly }, 'BALANCES_READ')
  .promise('scopes.brands', 'A key with BRANDS_READ alone lists brands')
  .gets(200, { path: '/brands?limit=1', as: brandsOnly });

const grants = new Cases('Grants')
  .promise('grants.any', 'Without grant_id, any active grant will do')
  .gets(200, balances())
  .promise('grants.none', 'A missing grant has its code and no field')
  .gets('GRANT_NOT_FOUND', balances(withoutGrant))
  .promise('grants.unknown-id', 'An unknown grant is refused')
  .gets(unknownGrant, balances({ grant_id: madeUp }))
  .promise('grants.after-parameters', 'The grant is checked last')
  .gets({ limit: 'VALUE_TOO_LOW' }, balances({ customer_id: madeUp, limit: 0 }));

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

const terms = new Cases('Terms')
  .promise('isolation.customer', 'A customer without a grant is answered like an unknown customer')
  .same(balances(withoutGrant), { customer_id: madeUp })
  .promise('isolation.balances', 'For another partner, this customer is answered like an unknown customer')
  .same(balances({}, otherPartner), { customer_id: madeUp })
  .promise('isolation.grant', 'For another partner, this grant is answered like an unknown grant')
  .same(balances({ grant_id }, otherPartner), { grant_id: madeUp })
  .promise('isolation.cursor', 'For another partner, this cursor is answered like a made-up one')
  .same(brands({ cursor: ofBrands }, otherPartner), { cursor: madeUp })
  .promise('isolation.brands', 'Another partner does not see these brands')
  .holds(leak);

export const access = [pagination, specified, credentials, grants, terms];
