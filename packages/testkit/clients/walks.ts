/** How a client follows cursors. */
import { invalidCursor, page, refusal, type Scenario } from './scenario.ts';

const brand = {
  id: 'b',
  name: 'é🦊',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-02T00:00:00.000Z',
  reference_id: 'r',
};
const fullBrand = { ...brand, color: '#a1b2c3', profile_image_url: 'https://x/y.png', metadata: { a: 'b' } };
const balance = { id: 'l', customer_id: 'c', type: 'CHECKING', currency: 'USD', amount: -9007199254740991 };
const times = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' };

const records: readonly Scenario[] = [
  {
    promise: 'returns brands as they are on the wire, without and with optional fields',
    answers: [{ body: { brands: [brand, fullBrand] } }],
    outcomes: [{ records: [brand, fullBrand], error: null }],
  },
  {
    promise: 'returns balances as they are on the wire, with exact amounts',
    calls: [{ listing: 'balances', params: { customer_id: 'c', type: 'CHECKING' } }],
    answers: [{ body: { balances: [balance, { ...balance, ...times }] } }],
    queries: ['customer_id=c&type=CHECKING'],
    outcomes: [{ records: [balance, { ...balance, ...times }], error: null }],
  },
  {
    promise: 'keeps fields that do not exist yet, also a field with the name extra',
    answers: [{ body: { brands: [{ ...brand, extra: 1, tags: ['x'] }], total: 1 } }],
    outcomes: [{ records: [{ ...brand, extra: 1, tags: ['x'] }], error: null }],
  },
];

const cursors: readonly Scenario[] = [
  {
    promise: 'sends the same parameters with each cursor, and encodes any characters',
    calls: [{ params: { reference_id: 'a b+c&d=e/?#%20é🦊"', limit: 2 } }],
    answers: [page(['a', 'b'], 'one+/='), page(['c'])],
    queries: [
      'reference_id=a+b%2Bc%26d%3De%2F%3F%23%2520%C3%A9%F0%9F%A6%8A%22&limit=2',
      'reference_id=a+b%2Bc%26d%3De%2F%3F%23%2520%C3%A9%F0%9F%A6%8A%22&limit=2&cursor=one%2B%2F%3D',
    ],
    outcomes: [{ pages: [['a', 'b'], ['c']], cursor: null, error: null }],
  },
  {
    promise: 'begins at a given cursor',
    calls: [{ params: { cursor: 'stored' } }],
    answers: [page(['c'])],
    queries: ['cursor=stored'],
    outcomes: [{ pages: [['c']], error: null }],
  },
  ...['', null].map((end) => ({
    promise: `the cursor alone ends a walk: empty pages do not, the cursor ${JSON.stringify(end)} does`,
    answers: [page([], 'a'), page(['one'], 'b'), page([], 'c'), page(['two'], end)],
    outcomes: [{ pages: [[], ['one'], [], ['two']], cursor: null, error: null }],
  })),
  ...(
    [
      ['the same cursor again', ['a', 'a']],
      ['the cursor that it was given at first', ['start']],
      ['a cursor of two pages ago', ['a', 'b', 'a']],
      ['a cursor of 100 pages ago', [...Array(100).keys(), 0].map(String)],
    ] as const
  ).map(([what, sent]) => ({
    promise: `reports a server that sends ${what}, before a record is repeated`,
    options: { maxRate: 0 },
    calls: [{ params: { cursor: 'start' } }],
    answers: sent.map((cursor, index) => page([String(index)], cursor)),
    outcomes: [
      {
        pages: sent.map((_, index) => [String(index)]),
        error: {
          kind: 'PartnerNetworkError',
          message: 'The service repeated a cursor of brands, so the walk would not end.',
        },
      },
    ],
  })),
];

const restarts: readonly Scenario[] = [
  {
    promise: 'starts again after an invalid cursor, after a second, and returns every record once',
    calls: [{ params: { limit: 2 } }],
    // `ca` came after the walk had passed it, and `d` was deleted.
    answers: [
      page(['a', 'b'], 'one'),
      page(['c', 'd'], 'two'),
      invalidCursor,
      page(['a', 'b'], 'three'),
      page(['c', 'ca', 'e'], 'one'),
      page([], 'five'),
      page(['f']),
    ],
    queries: ['', '&cursor=one', '&cursor=two', '', '&cursor=three', '&cursor=one', '&cursor=five'].map(
      (rest) => `limit=2${rest}`,
    ),
    waitsMs: [0, 0, 1_000],
    outcomes: [{ pages: [['a', 'b'], ['c', 'd'], ['e'], [], ['f']], cursor: null, error: null }],
  },
  {
    promise: 'returns the last page after a restart even if it has no further records',
    answers: [page(['a', 'b'], 'one'), invalidCursor, page(['a'], 'two'), page(['b'])],
    outcomes: [{ pages: [['a', 'b'], []], cursor: null, error: null }],
  },
  {
    promise: 'compares ids by their bytes in UTF-8',
    // In UTF-16 the fox comes before U+FF5A.
    answers: [page(['z', '\uff5a'], 'one'), invalidCursor, page(['z', 'zz', '\uff5a', '🦊'])],
    outcomes: [{ pages: [['z', '\uff5a'], ['🦊']], error: null }],
  },
  {
    promise: 'starts again only once',
    answers: [page(['a'], 'one'), invalidCursor, page(['a'], 'two'), invalidCursor],
    outcomes: [{ pages: [['a']], error: { kind: 'InvalidRequestError', code: 'INVALID_CURSOR' } }],
  },
  {
    promise: 'does not replace a cursor that the caller gave',
    calls: [{ params: { cursor: 'stored' } }],
    answers: [invalidCursor],
    outcomes: [{ pages: [], error: { kind: 'InvalidRequestError', code: 'INVALID_CURSOR' } }],
  },
  {
    promise: 'replaces a later cursor of a walk that began at a given cursor',
    calls: [{ params: { cursor: 'stored' } }],
    answers: [page(['b'], 'one'), invalidCursor, page(['a', 'b', 'c'])],
    queries: ['cursor=stored', 'cursor=one', ''],
    outcomes: [{ pages: [['b'], ['c']], error: null }],
  },
  {
    promise: 'does not start again after another error',
    answers: [page(['a'], 'one'), refusal(400, 'INVALID_REQUEST_ERROR', 'VALUE_EMPTY')],
    outcomes: [{ pages: [['a']], error: { kind: 'InvalidRequestError', code: 'VALUE_EMPTY' } }],
  },
  {
    promise: 'does not start again if no record shows where the walk was',
    answers: [page([], 'one'), invalidCursor],
    outcomes: [{ pages: [[]], error: { kind: 'InvalidRequestError', code: 'INVALID_CURSOR' } }],
  },
];

export const walks: readonly Scenario[] = [...records, ...cursors, ...restarts];
