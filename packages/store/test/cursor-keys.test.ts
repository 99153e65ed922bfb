/** Which cursor key seals and which keys open, at every time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cursorsBounds } from '../../common/src/bounds/service.ts';
import { toTime } from '../../common/src/times.ts';
import { pluck } from '../../testkit/fixtures/pluck.ts';
import { livingKeys, planRotation, type StoredCursorKey } from '../src/sql/cursor-keys.ts';

const start = Date.parse('2026-06-01T00:00:00.000Z');
const day = 24 * 3_600_000;
const settle = cursorsBounds.keySettleMs;
const end = settle + day + 60_000;

function keyAt(id: number, ms: number): StoredCursorKey {
  return { id, secret: new Uint8Array(32).fill(id), created_at: toTime(start + ms) };
}

/** The stored keys after a rotation at this time. */
function rotated(stored: readonly StoredCursorKey[], ms: number, old: 'keep' | 'discard' = 'keep') {
  const { key, removed } = planRotation(stored, start + ms, old);
  const { id, secret, created_at } = key;
  return [{ id, secret, created_at }, ...stored.filter((one) => !removed.includes(one.id))];
}

const statuses = (stored: readonly StoredCursorKey[], ms: number) =>
  livingKeys(stored, start + ms).map(({ id, status }) => `${id} ${status}`);

test('the only key seals at once', () => {
  for (const ms of [-day, 0, settle, 1_000 * day]) {
    assert.deepEqual(statuses([keyAt(0, 0)], ms), ['0 sealing']);
  }
});

test('a new key waits until every instance has it; the old one opens until its last cursor expires', () => {
  const stored = rotated([keyAt(0, -day)], 0);
  assert.deepEqual(statuses(stored, 0), ['0 sealing', '1 waiting']);
  assert.deepEqual(statuses(stored, settle - 1), ['0 sealing', '1 waiting']);
  assert.deepEqual(statuses(stored, settle), ['1 sealing', '0 opening']);
  assert.deepEqual(statuses(stored, end - 1), ['1 sealing', '0 opening']);
  // Not a millisecond longer, although it is still stored.
  assert.deepEqual(statuses(stored, end), ['1 sealing']);
  const [old, waiting] = livingKeys(stored, start);
  assert.equal(old!.opens_until, toTime(start + end));
  assert.deepEqual([waiting!.seals_from, waiting!.opens_until], [toTime(start + settle), undefined]);
});

test('after two rotations in a row each key seals in its turn', () => {
  const stored = rotated(rotated([keyAt(0, -day)], 0), 1_000);
  assert.deepEqual(statuses(stored, 1_000), ['0 sealing', '2 waiting', '1 waiting']);
  assert.deepEqual(statuses(stored, settle), ['1 sealing', '2 waiting', '0 opening']);
  assert.deepEqual(statuses(stored, settle + 1_000), ['2 sealing', '1 opening', '0 opening']);
});

test('a rotation deletes past keys, and no key that still opens', () => {
  const stored = rotated([keyAt(0, -day)], 0);
  assert.deepEqual(planRotation(stored, start + end - 1, 'keep').removed, []);
  const { removed, discarded } = planRotation(stored, start + end, 'keep');
  assert.deepEqual([removed, discarded], [[0], []]);
});

test('after discarding, the new key is the only one and seals at once, also while another waits', () => {
  const alone = rotated(rotated([keyAt(0, -day)], 0), 1_000, 'discard');
  assert.deepEqual(statuses(alone, 1_000), ['2 sealing']);
  assert.deepEqual(statuses(rotated(alone, 2_000), 2_000), ['2 sealing', '3 waiting']);
});

test('a rotation repairs a database without any key', () => {
  assert.deepEqual(livingKeys([], start), []);
  assert.deepEqual(statuses(rotated([], 0), 0), ['0 sealing']);
});

test('the new key is the newest even if the clock was set back', () => {
  const stored = rotated([keyAt(0, 0)], -3_600_000);
  assert.equal(stored[0]!.created_at, toTime(start + 1));
  assert.deepEqual(statuses(stored, 0), ['0 sealing', '1 waiting']);
});

test('discarding uses the current time again after keys from a clock that was ahead', () => {
  const ahead = rotated(rotated([keyAt(0, -day)], 400 * day), 0);
  assert.deepEqual(statuses(ahead, settle), ['0 sealing', '2 waiting', '1 waiting']);
  const renewed = rotated(ahead, 0, 'discard');
  assert.deepEqual([renewed.length, renewed[0]!.created_at], [1, toTime(start)]);
  assert.deepEqual(statuses(rotated(renewed, day), day + settle), ['4 sealing', '3 opening']);
});

test('ids are reused in turn, never while in use; without a free id the error says when one is free', () => {
  const all = Array.from({ length: 256 }, (_, made) => keyAt((250 + made) % 256, made)).toReversed();
  const stored = rotated(rotated(all.slice(2), 254), 255);
  assert.deepEqual(pluck(stored.slice(0, 3), 'id'), [249, 248, 247]);
  assert.throws(() => planRotation(stored, start + 256, 'keep'), {
    name: 'Error',
    message: new RegExp(`Rotate again after ${toTime(start + 1 + end)}, or with --discard-old\\.$`),
  });
  assert.equal(rotated(stored, 256, 'discard').length, 1);
  // The first key is past, so its id is free.
  assert.equal(rotated(stored, 1 + end)[0]!.id, 250);
});

test('whenever keys are rotated, one key seals, and what it sealed opens for a day', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 2 * day }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 3 * day }), (gaps, sealedMs) => {
      let ms = 0;
      const histories = [{ ms, stored: [keyAt(0, -day)] }];
      for (const gap of gaps) {
        ms += gap;
        histories.push({ ms, stored: rotated(histories.at(-1)!.stored, ms) });
      }
      const at = (when: number) => statuses(histories.findLast((past) => past.ms <= when)!.stored, when);
      const sealing = at(sealedMs).filter((one) => one.endsWith('sealing'));
      assert.equal(sealing.length, 1);
      const id = sealing[0]!.split(' ')[0];
      for (const later of [0, 1, settle, day / 2, day, day + 50_000]) {
        assert.ok(at(sealedMs + later).some((one) => one.startsWith(`${id} `)));
      }
    }),
  );
});
