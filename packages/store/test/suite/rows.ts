/** Good and bad values for the columns of every table. */
import { createdAt } from '../../../testkit/fixtures/fixture.ts';
import { times } from './records.ts';

export type Value = string | number | bigint | Uint8Array | null;
export type Row = Readonly<Record<string, Value>>;

/** One valid row for each table. */
export const good = {
  partners: {
    ...{ id: 'acme', name: 'Acme', created_at: createdAt, disabled_at: null },
    ...{ brands_rate: 1, balances_rate: 10_000 },
  },
  settings: { name: 'other', value: 'value' },
  cursor_keys: { id: 7, secret: new Uint8Array(32), created_at: createdAt },
  api_keys: {
    ...{ id: 'k', partner_id: 'acme', name: null, digest: new Uint8Array(32), last_four: 'abcd' },
    ...{ scopes: 'BRANDS_READ', created_at: createdAt, expires_at: null, revoked_at: null },
  },
  admin_keys: {
    ...{ id: 'k', name: 'ci', role: 'ADMIN', digest: new Uint8Array(32), last_four: 'abcd' },
    ...{ created_at: createdAt, created_by: 'eve', expires_at: null, revoked_at: null },
  },
  ended_sessions: { digest: new Uint8Array(32), ends_at: createdAt },
  session_keys: { id: 7, secret: new Uint8Array(32), created_at: createdAt },
  grants: {
    ...{ customer_id: 'alice', id: 'g', partner_id: 'acme', action: 'CHECKING_BALANCE', status: 'ACTIVE' },
    ...{ expires_at: null, ...times },
  },
  balances: { customer_id: 'alice', id: 'b', type: 'CHECKING', currency: 'USD', amount: 1, ...times },
  brands: {
    ...{ partner_id: 'acme', id: 'b', name: 'Name', ...times, reference_id: 'ref' },
    ...{ color: null, profile_image_url: null, metadata: null },
  },
} satisfies Record<string, Row>;

export type Table = keyof typeof good;

const controls = ['\u0000', 'a\u0000b', '\u0001', 'a\tb', 'a\n', '\u001f', '\u007f'];
const textTo = (max: number) => ['', 'x'.repeat(max + 1), '🦊'.repeat(max + 1), null, ...controls];
const optionalTextTo = (max: number) => textTo(max).filter((value) => value !== null);
const badRates = [0, -1, 10_001, 1.5, 'x'];
const fiftyOne = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'v']));

/** Values that each column must reject, of which some depend on the engine. */
export function badValues({ badTimes, badBytes }: Record<'badTimes' | 'badBytes', readonly Value[]>) {
  const bytes = [new Uint8Array(31), new Uint8Array(33), null, ...badBytes];
  return {
    settings: { name: [null], value: [null] },
    cursor_keys: { id: [-1, 256], secret: bytes, created_at: [null, ...badTimes] },
    partners: {
      ...{ id: textTo(128), name: textTo(1024), created_at: [null, ...badTimes], disabled_at: badTimes },
      ...{ brands_rate: badRates, balances_rate: badRates },
    },
    api_keys: {
      id: ['', 'x'.repeat(129), null],
      partner_id: ['nobody', null],
      name: optionalTextTo(1024),
      digest: bytes,
      last_four: ['abc', 'abcde', null],
      scopes: ['', 'BRANDS_READ BALANCES_READ', 'BRANDS_WRITE', 'BRANDS_READ ', null],
      created_at: [null, ...badTimes],
      expires_at: badTimes,
      revoked_at: badTimes,
    },
    admin_keys: {
      id: ['', 'x'.repeat(129), null],
      name: textTo(1024),
      role: ['', 'admin', 'OWNER', null],
      digest: bytes,
      last_four: ['abc', 'abcde', null],
      created_at: [null, ...badTimes],
      created_by: [null],
      expires_at: badTimes,
      revoked_at: badTimes,
    },
    ended_sessions: { digest: bytes, ends_at: [null, ...badTimes] },
    session_keys: { id: [-1, 256], secret: bytes, created_at: [null, ...badTimes] },
    grants: {
      customer_id: textTo(128),
      id: textTo(256),
      partner_id: ['nobody', '', null],
      action: ['CHECKING', '', null],
      status: ['active', 'PENDING', '', null],
      expires_at: badTimes,
      created_at: [null, ...badTimes],
      updated_at: [null, ...badTimes],
    },
    balances: {
      customer_id: textTo(128),
      id: textTo(256),
      type: ['checking', 'SAVINGS', '', null],
      currency: ['usd', 'EUR', '', null],
      amount: [9007199254740992n, -9007199254740992n, 1.5, '1x', '', null],
      created_at: [null, ...badTimes],
      updated_at: [null, ...badTimes],
    },
    brands: {
      partner_id: ['nobody', null],
      id: textTo(128),
      name: textTo(1024),
      reference_id: textTo(1024),
      created_at: [null, ...badTimes],
      updated_at: [null, ...badTimes],
      color: ['', '#12345', '#1234567', '123456', '#GGGGGG', 'red', '#123456\n'],
      profile_image_url: [
        ...['', 'http://', 'https://', 'ftp://example.com', 'example.com/logo.png', ' http://x'],
        ...['http://x y', 'http://x\u0000y', 'http://x\u0001', 'http://x\n', `http://${'x'.repeat(7_994)}`],
      ],
      metadata: [
        ...['', 'null', '[]', '"text"', '{', '{"a":1}', '{"a":null}', '{"a":{}}', '{"a":true}'],
        ...['{"a":"\\u0001"}', '{"a":"\\u0000"}', '{"a\\u0000":"b"}', '{"a\\u001f":"b"}', '{"a":"\\u007f"}'],
        ...['{"a":"b\\nc"}', JSON.stringify(fiftyOne)],
      ],
    },
  } satisfies { readonly [Name in Table]: Readonly<Record<string, readonly Value[]>> };
}
