import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { lengths } from '@partner-network/contract/limits';
import fc from 'fast-check';
import { anyCharacter } from '../../../../fuzz/words.ts';
import { createCursors } from '../../src/cursors/cursors.ts';

const key = { id: 0, secret: randomBytes(32) };
const scope = { endpoint: 'listBalances', partnerId: 'p', filters: ['c', 'CHECKING'] };

function at(after: string) {
  return { after, walPosition: 2n ** 64n - 1n };
}

test('opens to the position that was sealed, whatever it is, and fits its own limit', () => {
  const cursors = createCursors([key], 'sandbox', Date.now);
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

test('the longest id there is, 256 characters of four bytes each, fits a cursor', () => {
  const cursors = createCursors([key], 'sandbox', Date.now);
  for (const character of ['\u{10ffff}', '🦊', 'é', 'a']) {
    const position = at(character.repeat(lengths.balanceId));
    const cursor = cursors.seal(scope, position);
    assert.ok(cursor.length <= lengths.cursor, `${cursor.length} characters`);
    assert.deepEqual(cursors.open(scope, cursor), position);
  }
});

test('the same position is never sealed to the same text, and its text shows nothing of it', () => {
  const cursors = createCursors([key], 'sandbox', Date.now);
  const sealed = new Set(Array.from({ length: 100 }, () => cursors.seal(scope, at('BRAND_visible'))));
  assert.equal(sealed.size, 100);
  for (const cursor of sealed) assert.ok(!Buffer.from(cursor, 'base64url').includes('visible'));
});

test('the newest key seals, older ones still open, and a key that is gone opens nothing', () => {
  const newer = { id: 7, secret: randomBytes(32) };
  const before = createCursors([key], 'sandbox', Date.now).seal(scope, at('x'));
  const rotated = createCursors([newer, key], 'sandbox', Date.now);
  assert.equal(rotated.open(scope, before).after, 'x');
  const after = rotated.seal(scope, at('y'));
  assert.equal(createCursors([newer], 'sandbox', Date.now).open(scope, after).after, 'y');
  assert.throws(() => createCursors([newer], 'sandbox', Date.now).open(scope, before), {
    status: 400,
  });
});

test('no two scopes share a binding: a filter cannot pass for its neighbor', () => {
  const cursors = createCursors([key], 'sandbox', Date.now);
  const cursor = cursors.seal({ ...scope, filters: ['a', undefined] }, at('x'));
  for (const filters of [[undefined, 'a'], ['a'], ['a', 'null'], ['a', ''], ['a"', undefined]]) {
    assert.throws(() => cursors.open({ ...scope, filters }, cursor), { status: 400 });
  }
});
