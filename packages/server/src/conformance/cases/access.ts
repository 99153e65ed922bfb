/** Keys, scopes, grants, and what a partner may learn of another. */
import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { keyPrefixes } from '@partner-network/contract/environments';
import type { Case, Probe } from '../case.ts';
import { cases, type Find } from './rows.ts';
import { table, unless } from './table.ts';
import { type Item, madeUp, someRecords } from './walks.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A random key that was never issued: only its prefix is that of a real key. */
function madeUpKey({ given }: Probe, isOther = false, hasChecksum = true): string {
  const isLive = given.PARTNER_NETWORK_API_KEY?.startsWith(keyPrefixes.production) === true;
  const secret = Array.from({ length: 43 }, () => alphabet[randomInt(62)]).join('');
  const body = (isLive === isOther ? keyPrefixes.sandbox : keyPrefixes.production) + secret;
  const sum = (crc32(body) ^ (hasChecksum ? 0 : 1)) >>> 0;
  const digits = [5, 4, 3, 2, 1, 0].map((place) => alphabet[Math.floor(sum / 62 ** place) % 62]);
  return body + digits.join('');
}

/** Sends this Authorization header, and expects that it is refused. */
const header =
  (make: (probe: Probe) => string, code = 'UNAUTHORIZED'): Find =>
  async (probe) =>
    unless(await probe.get('/brands', {}, { key: { header: make(probe) } }), `401 ${code}`);

/** Sends these lines in place of the Authorization header. */
const lines =
  (expected: string, ...sent: string[]): Find =>
  async (probe) => {
    const start = ['GET {path}/brands?limit=1 HTTP/1.1', 'Host: {host}', 'Connection: close'];
    return unless(await probe.raw([...start, ...sent, '', ''].join('\r\n')), expected);
  };

const line = 'Authorization: Bearer {key}';
const otherPartner = 'PARTNER_NETWORK_OTHER_PARTNER_API_KEY';

/** Finds a brand of this partner in an answer to another partner. */
const leak =
  (filter: (own: Item) => Item): Find =>
  async (probe) => {
    const own = (await someRecords(probe, 'brands')).records;
    const query = filter(own.at(-1)!) as Record<string, string>;
    const answer = await probe.get('/brands', query, { key: otherPartner });
    const others = (answer.json as { brands?: Item[] } | undefined)?.brands ?? [];
    const texts = own.map((record) => JSON.stringify(record));
    return answer.status === 200 && !others.some((record) => texts.includes(JSON.stringify(record)))
      ? undefined
      : answer;
  };

export const access: readonly Case[] = [
  ...table(
    '5',
    'specification',
    `
credentials.required: A request without a key gets no brands
  as:nobody /brands -> 4xx
scopes.required: A key without BALANCES_READ gets no balances
  as:BRANDS_ONLY /balances?{customer} -> 4xx
grants.required: The balances of a customer without a grant are refused
  /balances?customer_id={CUSTOMER_ID_WITHOUT_GRANT}&type=CHECKING -> 4xx
grants.named: The grant may be named by grant_id
  /balances?{customer}&grant_id={GRANT_ID} -> 200
`,
  ),
  ...cases('Credentials', 'decisions', {
    'credentials.empty': ['An empty header is refused', header(() => '')],
    'credentials.no-key': ['A scheme without a key is refused', header(() => 'Bearer')],
    'credentials.no-scheme': ['A key without a scheme is refused', header((p) => madeUpKey(p))],
    'credentials.other-scheme': ['Another scheme is refused', header((p) => `Basic ${madeUpKey(p)}`)],
    'credentials.not-a-key': ['A text that is not a key is refused', header(() => `Bearer ${madeUp()}`)],
    'credentials.unknown': [
      'A key that was never issued is refused',
      header((p) => `Bearer ${madeUpKey(p)}`),
    ],
    'credentials.checksum': [
      'A key with a wrong checksum is refused',
      header((p) => `Bearer ${madeUpKey(p, false, false)}`),
    ],
    'credentials.checksum-before-environment': [
      'A key of the other environment with a wrong checksum is UNAUTHORIZED',
      header((p) => `Bearer ${madeUpKey(p, true, false)}`),
    ],
    'credentials.prefix': [
      'The prefix alone shows a key of the other environment',
      header((p) => `Bearer ${madeUpKey(p, true)}`, 'API_KEY_ENVIRONMENT_MISMATCH'),
    ],
    'credentials.word-after-key': ['A word after the key is refused', lines('401 UNAUTHORIZED', `${line} x`)],
    'credentials.two-headers': ['Two headers are refused', lines('401 UNAUTHORIZED', line, line)],
    'credentials.scheme-case': ['The scheme may be in any case', lines('200', 'authorization: bEARER {key}')],
  }),
  ...table(
    'Errors',
    'decisions',
    `
credentials.missing: A request without a key is refused
  as:nobody /brands -> 401 UNAUTHORIZED
credentials.before-parameters: The key is checked before the parameters
  as:nobody /balances?limit=x -> 401 UNAUTHORIZED
credentials.revoked: A revoked key has its own code
  as:REVOKED /brands -> 401 API_KEY_REVOKED
credentials.expired: An expired key has its own code
  as:EXPIRED /brands -> 401 API_KEY_EXPIRED
credentials.other-environment: A key of the other environment has its own code
  as:OTHER_ENVIRONMENT /brands -> 401 API_KEY_ENVIRONMENT_MISMATCH
scopes.balances: A key without BALANCES_READ is refused, before the parameters are checked
  as:BRANDS_ONLY /balances?limit=x -> 403 INSUFFICIENT_SCOPES
scopes.brands: A key with BRANDS_READ alone lists brands
  as:BRANDS_ONLY /brands?limit=1 -> 200
`,
  ),
  ...table(
    'Grants',
    'decisions',
    `
grants.any: Without grant_id, any active grant will do
  /balances?{customer} -> 200
grants.none: A customer without a grant is refused, without a field
  /balances?customer_id={CUSTOMER_ID_WITHOUT_GRANT}&type=CHECKING -> 403 GRANT_NOT_FOUND
grants.unknown-customer: A customer who does not exist is refused as one without a grant
  /balances?customer_id={made-up}&type=CHECKING -> 403 GRANT_NOT_FOUND
grants.unknown-id: A grant that does not exist is refused
  /balances?{customer}&grant_id={made-up} -> 403 GRANT_NOT_FOUND grant_id
grants.other-customer: A grant of another customer is refused as one that does not exist
  /balances?customer_id={CUSTOMER_ID_WITHOUT_GRANT}&type=CHECKING&grant_id={GRANT_ID} -> 403 GRANT_NOT_FOUND grant_id
grants.after-parameters: The parameters are checked before the grant
  /balances?customer_id={made-up}&type=CHECKING&limit=0 -> 400 VALUE_TOO_LOW limit
`,
  ),
  ...table(
    'Terms',
    'decisions',
    `
isolation.balances: Another partner gets the same answer for this customer as for one who does not exist
  as:OTHER_PARTNER /balances?{customer} -> the same as
  as:OTHER_PARTNER /balances?customer_id={made-up}&type=CHECKING
isolation.grant: Another partner gets the same answer for this grant as for one that does not exist
  as:OTHER_PARTNER /balances?{customer}&grant_id={GRANT_ID} -> the same as
  as:OTHER_PARTNER /balances?{customer}&grant_id={made-up}
`,
  ),
  ...cases('Terms', 'decisions', {
    'isolation.brands': ['Another partner does not see these brands', leak(() => ({})), [otherPartner]],
    'isolation.filter': [
      'Another partner does not find these brands by reference_id',
      leak(({ reference_id }) => ({ reference_id })),
      [otherPartner],
    ],
  }),
];
