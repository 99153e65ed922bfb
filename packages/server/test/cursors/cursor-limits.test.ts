/**
 * What a cursor is at its edges: the longest, the shortest, the oldest, and the first.
 * `npm run mutate` runs it for every change that it makes there, which a test with a service is too slow for.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cursorLifetimeHours, lengths } from '@partner-network/contract/limits';
import { createCursors, firstPosition } from '../../src/cursors/cursors.ts';

const key = { id: 3, secret: Buffer.alloc(32, 7) };
const scope = { endpoint: 'listBalances', partnerId: 'p', filters: ['c', 'CHECKING'] };
const invalid = { status: 400, errors: [{ code: 'INVALID_CURSOR', field: 'cursor' }] };

function codesOf(open: () => unknown): unknown {
  try {
    return open();
  } catch (thrown) {
    const { status, errors } = thrown as { status: number; errors: { code: string; field: string }[] };
    return { status, errors: errors.map(({ code, field }) => ({ code, field })) };
  }
}

test('a walk begins before every id, and at no moment of the database', () => {
  assert.deepEqual(firstPosition, { after: '', walPosition: 0n });
  const cursors = createCursors([key], 'sandbox', Date.now);
  assert.deepEqual(cursors.open(scope, cursors.seal(scope, firstPosition)), firstPosition);
});

test('an id of 256 characters fits, however many bytes they take', () => {
  const cursors = createCursors([key], 'sandbox', Date.now);
  for (let wide = 0; wide <= lengths.balanceId; wide += 1) {
    for (const other of ['a', 'é']) {
      const after = '🦊'.repeat(wide) + other.repeat(lengths.balanceId - wide);
      const cursor = cursors.seal(scope, { after, walPosition: 1n });
      assert.ok(cursor.length <= lengths.cursor, `${cursor.length} characters for ${wide} foxes`);
      assert.equal(cursors.open(scope, cursor).after, after);
    }
  }
});

test('a plain id costs its cursor a third more than its characters, and 60 for the rest', () => {
  const cursors = createCursors([key], 'sandbox', Date.now);
  for (const characters of [1, 40, 128, lengths.balanceId]) {
    const cursor = cursors.seal(scope, { after: 'a'.repeat(characters), walPosition: 1n });
    assert.ok(cursor.length <= Math.ceil((characters * 4) / 3) + 60, `${cursor.length} for ${characters}`);
  }
});

test('opens until a day after it was sealed, and not at that moment', () => {
  const clock = { ms: 1_000_000 };
  const cursors = createCursors([key], 'sandbox', () => clock.ms);
  const cursor = cursors.seal(scope, { after: 'x', walPosition: 5n });
  clock.ms += cursorLifetimeHours * 3_600_000 - 1;
  assert.deepEqual(cursors.open(scope, cursor), { after: 'x', walPosition: 5n });
  clock.ms += 1;
  assert.deepEqual(
    codesOf(() => cursors.open(scope, cursor)),
    invalid,
  );
});

test('has one spelling: what decodes to the same bytes is another text, and does not open', () => {
  const cursors = createCursors([key], 'sandbox', Date.now);
  const cursor = cursors.seal(scope, { after: 'xy', walPosition: 5n });
  const middle = cursor.length / 2;
  const spellings = [
    ...[`${cursor}=`, `${cursor}==`, `${cursor}\n`, ` ${cursor}`, `${cursor}.`],
    `${cursor.slice(0, middle)} ${cursor.slice(middle)}`,
  ];
  for (const spelling of spellings) {
    assert.deepEqual(Buffer.from(spelling, 'base64url'), Buffer.from(cursor, 'base64url'));
    assert.deepEqual(
      codesOf(() => cursors.open(scope, spelling)),
      invalid,
    );
  }
});

test('cut to any length, it is refused as any other', () => {
  const cursors = createCursors([key], 'sandbox', Date.now);
  const cursor = cursors.seal(scope, { after: 'x', walPosition: 5n });
  for (let length = 0; length < cursor.length; length += 1) {
    assert.deepEqual(
      codesOf(() => cursors.open(scope, cursor.slice(0, length))),
      invalid,
    );
  }
});
