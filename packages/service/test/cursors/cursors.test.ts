/** Sealing and opening of cursors, without a service: `npm run check -- mutate` needs quick tests. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { cursorLifetimeHours, lengths } from '@partner-network/contract/limits';
import fc from 'fast-check';
import { anyCharacter } from '../../../../checks/fuzz/words.ts';
import { createCursors, firstPosition } from '../../src/cursors/cursors.ts';

const key = { id: 3, secret: randomBytes(32) };
const scope = { endpoint: 'listBalances', partnerId: 'p', filters: ['c', 'CHECKING'] };
const cursors = createCursors([key], 'sandbox', Date.now);

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

test('every position is restored from its cursor, and no cursor exceeds the length limit', () => {
  const id = fc.string({ unit: anyCharacter, minLength: 1, maxLength: lengths.balanceId });
  const walPosition = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  fc.assert(
    fc.property(id, walPosition, (after, walPosition) => {
      const cursor = cursors.seal(scope, { after, walPosition });
      assert.deepEqual(cursors.open(scope, cursor), { after, walPosition });
      assert.ok(cursor.length <= lengths.cursor);
    }),
    { numRuns: 500 },
  );
});

test('a walk begins before every id, at WAL position 0', () => {
  assert.deepEqual(firstPosition, { after: '', walPosition: 0n });
  assert.deepEqual(cursors.open(scope, cursors.seal(scope, firstPosition)), firstPosition);
});

test('an id of 256 characters fits, with any number of bytes per character', () => {
  for (let wide = 0; wide <= lengths.balanceId; wide += 1) {
    for (const [character, other] of ['🦊a', '\u{10ffff}é'].map((pair) => [...pair])) {
      const position = at(character!.repeat(wide) + other!.repeat(lengths.balanceId - wide));
      const cursor = cursors.seal(scope, position);
      assert.ok(cursor.length <= lengths.cursor, `${cursor.length} characters with ${wide} wide ones`);
      assert.deepEqual(cursors.open(scope, cursor), position);
    }
  }
});

test('the same position is never sealed to the same text, and the text does not contain it', () => {
  const sealed = new Set(Array.from({ length: 300 }, () => cursors.seal(scope, at('BRAND_visible'))));
  assert.equal(sealed.size, 300);
  for (const cursor of sealed) assert.ok(!Buffer.from(cursor, 'base64url').includes('visible'));
});

test('opens until 24 hours after it was sealed, and not at that moment', () => {
  const clock = { ms: 1_000_000 };
  const timed = createCursors([key], 'sandbox', () => clock.ms);
  const cursor = timed.seal(scope, at('x'));
  clock.ms += cursorLifetimeHours * 3_600_000 - 1;
  assert.deepEqual(timed.open(scope, cursor), at('x'));
  clock.ms += 1;
  assertInvalid(() => timed.open(scope, cursor));
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

test('cut to any length, it is refused like any other invalid cursor', () => {
  const cursor = cursors.seal(scope, at('x'));
  for (let length = 0; length < cursor.length; length += 1)
    assertInvalid(() => cursors.open(scope, cursor.slice(0, length)));
});

test('the first key seals, the others open, and a key that is gone opens nothing', () => {
  const newer = { id: 7, secret: randomBytes(32) };
  const before = cursors.seal(scope, at('x'));
  const rotated = createCursors([newer, key], 'sandbox', Date.now);
  assert.equal(rotated.open(scope, before).after, 'x');
  const onlyNewer = createCursors([newer], 'sandbox', Date.now);
  assert.equal(onlyNewer.open(scope, rotated.seal(scope, at('y'))).after, 'y');
  assertInvalid(() => onlyNewer.open(scope, before));
});

test('a filter cannot pass for its neighbor', () => {
  const cursor = cursors.seal({ ...scope, filters: ['a', undefined] }, at('x'));
  for (const filters of [[undefined, 'a'], ['a'], ['a', 'null'], ['a', ''], ['a"', undefined]])
    assertInvalid(() => cursors.open({ ...scope, filters }, cursor));
});
