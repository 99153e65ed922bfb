/**
 * Sealing and opening of cursors, without a service: `npm run check -- mutate` needs quick tests. That a
 * cursor opens in its own scope, for 24 hours, with any id and key, and nowhere else, is tested in
 * checks/fuzz/cursors.ts.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createCursors, firstPosition } from '../../src/cursors.ts';

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
  const [minute, opening] = [60_000, createCursors([key], 'sandbox', () => now)];
  const sealed = (ms: number) => createCursors([key], 'sandbox', () => now + ms).seal(scope, at('x'));
  assert.deepEqual(opening.open(scope, sealed(5 * minute)), at('x'));
  for (const ms of [5 * minute + 1, 60 * minute, 365 * 24 * 60 * minute])
    assertInvalid(() => opening.open(scope, sealed(ms)));
});

test('a filter cannot pass for its neighbor', () => {
  const cursor = cursors.seal({ ...scope, filters: ['a', undefined] }, at('x'));
  for (const filters of [[undefined, 'a'], ['a'], ['a', 'null'], ['a', ''], ['a"', undefined]])
    assertInvalid(() => cursors.open({ ...scope, filters }, cursor));
});
