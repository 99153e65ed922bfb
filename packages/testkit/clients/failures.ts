/** What a client retries, how long it waits before that, and what it reports in the end. */
import { page, refusal, type Scenario, type ScriptedAnswer } from './scenario.ts';

const html = { headers: { 'content-type': 'text/html' }, body: '<html>Bad gateway</html>' };
const whole = page(['a', 'b']);
const text = JSON.stringify(whole.body);

/** No retry waits less than this, unless the response asks for a time. */
const backoffMinMs = 100;

/** Failures that a retry overcomes, and the least wait before it. */
const transient: readonly [what: string, answer: ScriptedAnswer, waitMs?: number][] = [
  ['a connection that closes before the answer', { fault: 'cut before the answer' }],
  ['a reset before the answer', { fault: 'reset before the answer' }],
  ['a connection that closes in the head', { fault: 'cut in the head' }],
  ['a connection that closes in the body', { ...whole, fault: 'cut in the body' }],
  ['a connection that closes in a chunk', { ...whole, fault: 'cut in a chunk' }],
  ['a chunk of a negative length', { fault: 'a chunk of a negative length' }],
  ['a shortened body', { body: text.slice(0, -9) }],
  ['an empty body', { body: '' }],
  ['broken UTF-8', { body: Buffer.from(text.replace('"a"', '"\xff"'), 'latin1') }],
  ['a number that JSON does not have', { body: text.replace('"a"', 'NaN') }],
  ['HTML with status 200', html],
  ['HTML with status 502', { ...html, status: 502 }],
  ['HTML with status 408', { ...html, status: 408 }],
  ['an empty 504', { status: 504 }],
  ['a 500', refusal(500, 'API_ERROR', 'INTERNAL_SERVER_ERROR')],
  ['a 503 that asks for no wait', { status: 503, headers: { 'retry-after': '0' } }],
  ['a 503 that asks for a second', { status: 503, headers: { 'retry-after': '1' } }, 1_000],
  ['a 429 that asks for a second', { status: 429, headers: { 'retry-after': '1' } }, 1_000],
  [
    'a 429 that asks for a time in milliseconds, which counts first',
    { status: 429, headers: { 'retry-after-ms': '700', 'retry-after': '9' } },
    700,
  ],
];

/** How long a response asks to wait, by its headers. */
const asked: readonly [what: string, headers: Record<string, string>, ms: number | null][] = [
  ['seconds', { 'retry-after': '9' }, 9_000],
  ['milliseconds before seconds', { 'retry-after-ms': '700', 'retry-after': '9' }, 700],
  ['half a second', { 'retry-after': '0.5' }, 500],
  ['half a millisecond, rounded up', { 'retry-after-ms': '0.5' }, 1],
  ['the first of two values', { 'retry-after': '1, 2' }, 1_000],
  ['no time', { 'retry-after': '0' }, 0],
  ['a time of day, by the clock of the server', atAnHourAgo(2_000), 2_000],
  ['a time of day in the obsolete format', atAnHourAgo(2_000, toObsolete), 2_000],
  ['a time in the past', { 'retry-after': 'Thu, 01 Jan 2026 00:00:00 GMT' }, 0],
  ['nothing, by an invalid date', { 'retry-after': 'Sun, 99 Foo 2099 GMT' }, null],
  ["nothing, by a date that is not in HTTP's format", { 'retry-after': '2099-01' }, null],
  ['nothing, by a text', { 'retry-after-ms': '-1', 'retry-after': 'soon' }, null],
  ['nothing, by an empty value', { 'retry-after-ms': '', 'retry-after': '' }, null],
];

/** A time `ms` after that of the answer, by a clock that is an hour slow. */
function atAnHourAgo(ms: number, write = (utc: string) => utc) {
  const date = Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000;
  return { date: new Date(date).toUTCString(), 'retry-after': write(new Date(date + ms).toUTCString()) };
}

function toObsolete(utc: string): string {
  return utc.replace(/^(...), (..) (...) ..(..)/, '$1day, $2-$3-$4');
}

const retries: readonly Scenario[] = [
  ...transient.map(([what, answer, waitMs = backoffMinMs]) => ({
    promise: `continues with the same request after ${what}`,
    answers: [page(['0'], 'one'), answer, whole],
    queries: ['', 'cursor=one', 'cursor=one'],
    waitsMs: [0, waitMs],
    outcomes: [{ pages: [['0'], ['a', 'b']], error: null }],
  })),
  {
    promise: 'reports a lasting failure after three retries',
    answers: Array(4).fill({ ...html, status: 502, headers: { 'retry-after-ms': '1' } }),
    outcomes: [{ pages: [], error: { kind: 'ServerError', status: 502 } }],
  },
  {
    promise: 'gives each request of a walk its own retries',
    options: { maxRetries: 1 },
    answers: [{ status: 504 }, page(['a'], 'one'), { ...whole, fault: 'cut in the body' }, page(['b'])],
    outcomes: [{ pages: [['a'], ['b']], error: null }],
  },
  {
    promise: 'fails at once if it is asked to wait for an hour',
    answers: [{ status: 503, headers: { 'retry-after': '3600' } }],
    outcomes: [{ pages: [], error: { kind: 'ServerError', retryAfterMs: 3_600_000 } }],
  },
  {
    promise: 'fails at once if it is asked to wait for a number of seconds with 400 digits',
    answers: [{ status: 503, headers: { 'retry-after': '9'.repeat(400) } }],
    outcomes: [{ pages: [], error: { kind: 'ServerError' } }],
  },
  {
    promise: 'skips an interim response, and gives each call its own page',
    calls: [{}, {}],
    answers: [
      { ...page(['a']), fault: 'early hints' },
      { ...page(['b']), fault: 'early hints' },
    ],
    outcomes: [
      { pages: [['a']], error: null },
      { pages: [['b']], error: null },
    ],
  },
];

const once = { maxRetries: 0 };

const reported: readonly Scenario[] = [
  ...asked.map(([what, headers, retryAfterMs]) => ({
    promise: `reports that a 503 asks to wait for ${what}`,
    options: once,
    answers: [{ status: 503, headers }],
    outcomes: [{ error: { kind: 'ServerError', retryAfterMs } }],
  })),
  {
    promise: 'a 429 without JSON is RateLimitError',
    options: once,
    answers: [{ status: 429, body: 'slow down' }],
    outcomes: [{ error: { kind: 'RateLimitError', status: 429, code: null } }],
  },
  {
    promise: 'the error for a response that is not JSON repeats nothing of it',
    options: once,
    calls: [{ listing: 'balances', params: { customer_id: 'c', type: 'CHECKING' } }],
    answers: [{ body: '{"balances":[{"amount":4242x' }],
    outcomes: [
      {
        error: {
          kind: 'NetworkError',
          message: 'BASE answered with status 200, but the body is not complete JSON.',
        },
      },
    ],
  },
  {
    promise: 'an endless chunk of a negative length is NetworkError, long before the timeout',
    options: { ...once, timeoutMs: 15_000 },
    answers: [{ fault: 'an endless chunk of a negative length' }],
    outcomes: [{ pages: [], error: { kind: 'NetworkError' } }],
  },
  {
    promise: 'a response that breaks off is NetworkError',
    options: once,
    answers: [{ ...whole, fault: 'cut in the body' }],
    outcomes: [{ pages: [], error: { kind: 'NetworkError' } }],
  },
  ...(['silence', 'silence in the body', 'a byte at a time'] as const).map((fault) => ({
    promise: `${fault} is RequestTimeout, after all retries`,
    options: { timeoutMs: 2_000, maxRetries: 1 },
    answers: [
      { ...whole, fault },
      { ...whole, fault },
    ],
    outcomes: [{ pages: [], error: { kind: 'RequestTimeout' } }],
  })),
  {
    promise: 'waits for a slow answer that is complete in time',
    options: once,
    answers: [{ ...whole, fault: 'a slow answer' }],
    outcomes: [{ pages: [['a', 'b']], error: null }],
  },
  {
    promise: 'a 401 whose body is late is an error with its status',
    // Far longer than the head takes on a busy machine.
    options: { timeoutMs: 4_000 },
    answers: [{ status: 401, body: '{}', fault: 'silence in the body' }],
    outcomes: [
      { error: { kind: 'AuthenticationError', message: '401: the body of the response did not arrive.' } },
    ],
  },
];

const pace: readonly Scenario[] = [
  {
    promise: 'sends at most maxRate requests per second',
    options: { maxRate: 1 },
    answers: [page(['a'], 'one'), page(['b'], 'two'), page(['c'])],
    waitsMs: [1_000, 1_000],
    outcomes: [{ pages: [['a'], ['b'], ['c']], error: null }],
  },
  {
    promise: 'a 429 holds back the next call of its listing, for as long as it says',
    options: once,
    calls: [{}, {}],
    answers: [{ status: 429, headers: { 'retry-after-ms': '600' } }, page(['a'])],
    waitsMs: [600],
    outcomes: [{ error: { kind: 'RateLimitError', retryAfterMs: 600 } }, { pages: [['a']], error: null }],
  },
];

export const failures: readonly Scenario[] = [...retries, ...reported, ...pace];
