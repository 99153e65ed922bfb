/** Cursors, keys, scopes, grants, and what a partner may learn of another. */
import { canonical } from '../content.ts';
import { type Find, table } from './table.ts';
import { page, someRecords } from './walks.ts';

/** Finds a brand of this partner in an answer to another partner. */
const leak: Find = async (probe) => {
  const own = (await someRecords(probe, 'brands')).records;
  const key = `Bearer ${probe.given.PARTNER_NETWORK_OTHER_PARTNER_API_KEY}`;
  for (const query of [{}, { reference_id: String(own.at(-1)!.reference_id) }]) {
    const { answer, body } = await page(probe, 'brands', query, key);
    const content = canonical(body);
    if (own.some((record) => content.includes(canonical(record)))) return answer;
  }
  return undefined;
};

export const access = table(
  `
# Pagination decisions
*.cursor.again: A cursor gives the same page again |
  /*?{*}&limit=1&cursor={*-cursor} -> the same as /*?{*}&limit=1&cursor={*-cursor}
*.cursor.other-limit: limit may change between pages | /*?{*}&limit=3&cursor={*-cursor} -> 200
*.cursor.made-up: A made-up cursor is refused | /*?{*}&cursor={made-up} -> 400 INVALID_CURSOR cursor
*.cursor.changed: A changed cursor is refused | /*?{*}&cursor={*-changed} -> 400 INVALID_CURSOR cursor
*.cursor.no-key: A cursor does not replace the key | as:nobody /*?{*}&cursor={*-cursor} -> 401 UNAUTHORIZED
brands.cursor.other-partner: A cursor does not work for another partner |
  as:OTHER_PARTNER /brands?limit=1&cursor={brands-cursor} -> 400 INVALID_CURSOR cursor
brands.cursor.other-filter: A cursor does not work with another reference_id |
  /brands?limit=1&reference_id={made-up}&cursor={brands-cursor} -> 400 INVALID_CURSOR cursor
brands.cursor.other-listing: A cursor of balances does not work for brands |
  /brands?limit=1&cursor={balances-cursor} -> 400 INVALID_CURSOR cursor
balances.cursor.other-listing: A cursor of brands does not work for balances |
  /balances?{balances}&cursor={brands-cursor} -> 400 INVALID_CURSOR cursor
balances.cursor.other-customer: A cursor does not work for another customer |
  /balances?{no-grant}&cursor={balances-cursor} -> 4xx
balances.cursor.every-page: The grant is checked on every page |
  /balances?{balances}&grant_id={made-up}&cursor={balances-cursor} -> 403 GRANT_NOT_FOUND grant_id
# 5 specification
credentials.required: A request without a key gets no brands | as:nobody /brands -> 4xx
scopes.required: A key without BALANCES_READ gets no balances | as:BRANDS_ONLY /balances?{balances} -> 4xx
grants.required: The balances of a customer without a grant are refused | /balances?{no-grant} -> 4xx
grants.named: The grant may be named by grant_id | /balances?{balances}&grant_id={GRANT_ID} -> 200
# Credentials decisions
credentials.missing: A request without a key is refused | as:nobody /brands -> 401 UNAUTHORIZED
credentials.before-parameters: The key is checked first | as:nobody /balances?limit=x -> 401 UNAUTHORIZED
credentials.no-scheme: A key without a scheme is refused | as:{unknown-key} /brands -> 401 UNAUTHORIZED
credentials.other-scheme: Another scheme is refused | as:Basic+{unknown-key} /brands -> 401 UNAUTHORIZED
credentials.not-a-key: A text that is not a key is refused | as:Bearer+{made-up} /brands -> 401 UNAUTHORIZED
credentials.unknown: An unknown key is refused | as:Bearer+{unknown-key} /brands -> 401 UNAUTHORIZED
credentials.two-headers: Two Authorization headers are refused |
  raw GET {path}/brands HTTP/1.1; Host: {host}; Authorization: Bearer {key}; Authorization: Bearer {key}
  -> 401 UNAUTHORIZED
credentials.scheme-case: The scheme may be written in any case | as:bEARER+{key} /brands -> 200
credentials.revoked: A revoked key has its own code | as:REVOKED /brands -> 401 API_KEY_REVOKED
credentials.expired: An expired key has its own code | as:EXPIRED /brands -> 401 API_KEY_EXPIRED
credentials.other-environment: A key of the other environment has its own code |
  as:OTHER_ENVIRONMENT /brands -> 401 API_KEY_ENVIRONMENT_MISMATCH
scopes.balances: A missing scope is named, before the parameters are checked |
  as:BRANDS_ONLY /balances?limit=x -> 403 INSUFFICIENT_SCOPES mentioning BALANCES_READ
scopes.brands: A key with BRANDS_READ alone lists brands | as:BRANDS_ONLY /brands?limit=1 -> 200
# Grants decisions
grants.any: Without grant_id, any active grant will do | /balances?{balances} -> 200
grants.none: A missing grant has its code and no field | /balances?{no-grant} -> 403 GRANT_NOT_FOUND
grants.unknown-id: An unknown grant is refused |
  /balances?{balances}&grant_id={made-up} -> 403 GRANT_NOT_FOUND grant_id
grants.after-parameters: The grant is checked last | /balances?{unknown}&limit=0 -> 400 VALUE_TOO_LOW limit
# Terms decisions
isolation.customer: A customer without a grant is answered like an unknown customer |
  /balances?{no-grant} -> the same as /balances?{unknown}
isolation.balances: For another partner, this customer is answered like an unknown customer |
  as:OTHER_PARTNER /balances?{balances} -> the same as as:OTHER_PARTNER /balances?{unknown}
isolation.grant: For another partner, this grant is answered like an unknown grant |
  as:OTHER_PARTNER /balances?{balances}&grant_id={GRANT_ID} -> the same as
  as:OTHER_PARTNER /balances?{balances}&grant_id={made-up}
isolation.cursor: For another partner, this cursor is answered like a made-up one |
  as:OTHER_PARTNER /brands?cursor={brands-cursor} -> the same as as:OTHER_PARTNER /brands?cursor={made-up}
isolation.brands: Another partner does not see these brands | leak as:OTHER_PARTNER
`,
  { leak: () => leak },
);
