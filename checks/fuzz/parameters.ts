/** Fuzzes query strings, and compares the result with a second implementation of the rules. */
import assert from 'node:assert/strict';
import { keyPrefixPattern } from '@partner-network/contract/environments';
import type { ErrorRecord } from '@partner-network/contract/errors';
import { listBalances, listBrands } from '@partner-network/contract/operations';
import fc from 'fast-check';
import { Refusal } from '../../packages/http/src/refusal.ts';
import { decode, parseParameters, validParameters } from '../../packages/http/src/request.ts';
import { apiKeyOf } from '../../packages/service/src/auth.ts';
import { decoded, expectedOf, pairsOf, rulesOf } from './parameters-model.ts';
import type { Target } from './run.ts';
import { anyText, aroundLength, percentEncoded, spelling, targetText } from './words.ts';

type Listing = 'brands' | 'balances';

const operations = { brands: listBrands, balances: listBalances };
const names = [...new Set(Object.values(rulesOf).flatMap((rules) => Object.keys(rules)))];

export const parameters: Target = {
  name: 'parameters',
  promise:
    'every query is read, or refused with each fault once and in order, up to 20, and no error repeats a key',
  batchRuns: 1_000,
  open: async () => ({
    property: fc.property(fc.constantFrom<Listing>('brands', 'balances'), anyQuery, judge),
  }),
};

const key = fc
  .stringMatching(/^[0-9A-Za-z]{43}$/)
  .map((secret) => apiKeyOf(secret < 'V' ? 'sandbox' : 'production', secret));

const texts = fc.oneof(
  anyText(30),
  fc.constantFrom('CHECKING', 'checking', '50', '1', '100', '0', '101', '-1', '007', '5.0', ' 5', '٣', ''),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.integer({ min: -2, max: 103 }).map(String),
  ...[64, 128].map(aroundLength),
  key,
);
const text = fc.oneof(
  { weight: 20, arbitrary: texts },
  { weight: 1, arbitrary: fc.oneof(aroundLength(256), aroundLength(1_024)) },
);
const nearName = fc.tuple(fc.constantFrom(...names), fc.nat(12), fc.stringMatching(/^[A-Za-z_]?$/));
const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...names) },
  {
    weight: 1,
    arbitrary: nearName.map(([known, at, more]) => known.slice(0, at) + more + known.slice(at + 1)),
  },
  { weight: 1, arbitrary: text },
);
const written = (words: fc.Arbitrary<string>) =>
  fc.tuple(words, spelling).map(([word, ways]) => percentEncoded(word, ways));
const pair = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(written(name), written(text)).map((sides) => sides.join('=')) },
  { weight: 2, arbitrary: fc.tuple(written(name), targetText).map((sides) => sides.join('=')) },
  { weight: 1, arbitrary: fc.oneof(targetText, written(name)) },
);
const anyQuery = fc
  .oneof(
    { weight: 20, arbitrary: fc.array(pair, { maxLength: 7 }) },
    { weight: 1, arbitrary: fc.array(fc.oneof(pair, fc.constantFrom('', 'a', 'limit')), { maxLength: 150 }) },
  )
  .map((pairs) => pairs.join('&'));

function judge(listing: Listing, query: string): void {
  const operation = operations[listing];
  for (const { value } of pairsOf(query)) assert.equal(decode(value), decoded(value), value);
  const expected = expectedOf(listing, query);
  assert.deepEqual(validParameters(operation, query), expected.values);

  const outcome = read(listing, query);
  const errors = outcome instanceof Refusal ? outcome.errors : [];
  const known = errors.filter(({ code }) => code !== 'UNKNOWN_QUERY_PARAMETER');
  const count = known.length;
  assert.deepEqual(
    known.map(({ code, field }) => [code, field]),
    expected.faults,
  );
  assert.equal(errors.length, count + expected.unknown.length, 'one error for each unknown name');
  for (const [index, sent] of expected.unknown.entries())
    judgeUnknown(listing, sent, errors[count + index] as ErrorRecord);
  judgeEcho(query, JSON.stringify(errors));
  if (errors.length === 0) assert.deepEqual(outcome, expected.values);
}

function read(listing: Listing, query: string): unknown {
  try {
    return parseParameters(operations[listing], query);
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown;
    throw thrown;
  }
}

const plainName = /^[\x20-\x7e]*$/;

function judgeUnknown(listing: Listing, sent: string, { code, detail, field = '' }: ErrorRecord): void {
  assert.equal(code, 'UNKNOWN_QUERY_PARAMETER');
  assert.ok([...field].length <= 64, 'cut at 64 characters');
  const isPlain = plainName.test(sent) && !/pna?_|[0-9A-Za-z]{32}/.test(sent);
  if (isPlain) assert.equal(field, sent.slice(0, 64));
  const start = `Remove the unknown parameter ${field || 'without a name'}`;
  assert.ok(detail.startsWith(start), detail);
  const [, suggested] =
    /^(?:, or rename it to (\w+))?\.$/.exec(detail.slice(start.length)) ?? assert.fail(detail);
  if (suggested !== undefined) assert.ok(Object.hasOwn(rulesOf[listing], suggested), detail);
}

const keyStart = new RegExp(`${keyPrefixPattern}([0-9A-Za-z]{20,})`, 'g');

/** The answer contains neither most of a key nor a value of more than 64 characters. */
function judgeEcho(query: string, answer: string): void {
  const sent = pairsOf(query);
  for (const word of sent.flatMap((pair) => [pair.name, decoded(pair.value) ?? pair.value])) {
    for (const [, secret = ''] of word.matchAll(keyStart)) {
      assert.ok(!answer.includes(secret.slice(0, 16)), 'a key is repeated');
    }
  }
  for (const { value } of sent) {
    const text = decoded(value) ?? value;
    const start = JSON.stringify([...text].slice(0, 32).join('')).slice(1, -1);
    // An unknown name may be repeated, and may contain the same text.
    const isName = sent.some(({ name }) => name.includes(text.slice(0, 16)));
    if ([...text].length > 64 && !isName) assert.ok(!answer.includes(start), 'a value is repeated');
  }
}
