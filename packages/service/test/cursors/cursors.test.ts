/** Sealing and opening of cursors, without a service: `npm run check -- mutate` needs quick tests. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { anyText } from '../../../../checks/fuzz/words.ts';
import { createCursors, firstPosition } from '../../src/cursors.ts';

type Parts = Parameters<typeof createCursors>;
const cursorsOf = (keys: ReturnType<Parts[0]>, environment: Parts[1], nowMs: Parts[2]) =>
  createCursors(() => keys, environment, nowMs);
const key = { id: 3, secret: randomBytes(32) };
const scope = { endpoint: 'listBalances', partnerId: 'p', filters: ['c', 'CHECKING'] };
const cursors = cursorsOf([key], 'sandbox', Date.now);

function at(after: string) {
  return { after, walPosition: 2n ** 64n - 1n };
}

function assertInvalid(open: () => unknown): void {
  assert.throws(open, (refused: { status: number; errors: { code: string; field: string }[] }) => {
    const [{ code, field }] = refused.errors as [{ code: string; field: string }];
    assert.deepEqual(
      [refused.status, refused.errors.length, code, field],
      [400, 1, 'INVALID_CURSOR', 'cursor'],
    );
    return true;
  });
}

const word = fc.oneof(fc.constantFrom('p', 'c', 'CHECKING', '', 'null', '"', 'a","b'), anyText(20));
const anyScope = fc.record({
  endpoint: fc.constantFrom('listBrands', 'listBalances'),
  partnerId: word,
  filters: fc.array(fc.option(word, { nil: undefined }), { minLength: 1, maxLength: 2 }),
});
/** Ids of all sizes in bytes, up to the longest: 256 characters. */
const longId = fc
  .tuple(fc.constantFrom('a', 'é', '€', '🦊'), fc.constantFrom('b', '🦊', '\u{10ffff}'), fc.nat(256))
  .map(([one, other, count]) => one.repeat(count) + other.repeat(256 - count));
const position = fc.record({
  after: fc.oneof(anyText(256), longId),
  walPosition: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
});

test('a cursor opens in its own scope with any id, in no other scope, and not when a byte is changed', () => {
  const property = fc.property(
    anyScope,
    anyScope,
    position,
    fc.nat(),
    fc.nat(254),
    (own, other, at, byte, by) => {
      const cursor = cursors.seal(own, at);
      assert.match(cursor, /^[\w-]{1,1024}$/);
      assert.deepEqual(cursors.open(own, cursor), { ...at });
      if (!isDeepStrictEqual(own, other)) assertInvalid(() => cursors.open(other, cursor));
      const bytes = Buffer.from(cursor, 'base64url');
      bytes[byte % bytes.length]! += by + 1;
      assertInvalid(() => cursors.open(own, bytes.toString('base64url')));
      assertInvalid(() => cursors.open(own, cursor.slice(0, byte % cursor.length)));
    },
  );
  fc.assert(property, { numRuns: 300, seed: 6 });
});

test('a cursor opens with the key that sealed it, in the same environment, for less than 24 hours', () => {
  const dayMs = 24 * 3_600_000;
  const other = { id: 4, secret: randomBytes(32) };
  let now = 1_750_000_000_000;
  const service = cursorsOf([other, key], 'sandbox', () => now);
  const cursor = cursorsOf([key], 'sandbox', () => now).seal(scope, at('x'));
  assert.deepEqual(service.open(scope, cursor), at('x'));
  assert.equal(Buffer.from(service.seal(scope, at('x')), 'base64url')[0], other.id);
  const strangers = [
    cursorsOf([key], 'production', () => now),
    cursorsOf([other], 'sandbox', () => now),
    cursorsOf([{ ...other, id: key.id }], 'sandbox', () => now),
  ];
  for (const stranger of strangers) assertInvalid(() => stranger.open(scope, cursor));
  now += dayMs - 1;
  assert.deepEqual(service.open(scope, cursor), at('x'));
  now += 1;
  assertInvalid(() => service.open(scope, cursor));
});

test('a walk begins before every id, at WAL position 0', () => {
  assert.deepEqual(firstPosition, { after: '', walPosition: 0n });
  assert.deepEqual(cursors.open(scope, cursors.seal(scope, firstPosition)), firstPosition);
});

test('the same position is never sealed to the same text, and the text does not contain it', () => {
  const sealed = new Set(Array.from({ length: 300 }, () => cursors.seal(scope, at('BRAND_visible'))));
  assert.equal(sealed.size, 300);
  for (const cursor of sealed) assert.ok(!Buffer.from(cursor, 'base64url').includes('visible'));
});

test('a cursor has one text: another text with the same bytes does not open', () => {
  const cursor = cursors.seal(scope, at('xy'));
  const middle = cursor.length / 2;
  for (const text of [
    ...[`${cursor}=`, `${cursor}==`, `${cursor}\n`, ` ${cursor}`, `${cursor}.`],
    `${cursor.slice(0, middle)} ${cursor.slice(middle)}`,
  ]) {
    assert.deepEqual(Buffer.from(text, 'base64url'), Buffer.from(cursor, 'base64url'));
    assertInvalid(() => cursors.open(scope, text));
  }
});

test('a cursor of a clock that is more than 5 minutes ahead does not open', () => {
  const now = Date.now();
  const [minute, opening] = [60_000, cursorsOf([key], 'sandbox', () => now)];
  const sealed = (ms: number) => cursorsOf([key], 'sandbox', () => now + ms).seal(scope, at('x'));
  assert.deepEqual(opening.open(scope, sealed(5 * minute)), at('x'));
  for (const ms of [5 * minute + 1, 60 * minute, 365 * 24 * 60 * minute])
    assertInvalid(() => opening.open(scope, sealed(ms)));
});

test('a filter cannot pass for its neighbor', () => {
  const cursor = cursors.seal({ ...scope, filters: ['a', undefined] }, at('x'));
  for (const filters of [[undefined, 'a'], ['a'], ['a', 'null'], ['a', ''], ['a"', undefined]])
    assertInvalid(() => cursors.open({ ...scope, filters }, cursor));
});
