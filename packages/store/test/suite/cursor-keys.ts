import assert from 'node:assert/strict';
import { byTest } from '../../../testkit/fixtures/fixture.ts';
import type { CursorKey, Store } from '../../src/port.ts';
import type { StoreTests } from './records.ts';

/** Engines return bytes in different classes. */
const comparable = (keys: readonly CursorKey[]) =>
  keys.map(({ secret, ...key }) => ({ ...key, secret: Buffer.from(secret).toString('hex') }));

const idsOf = (keys: readonly CursorKey[]) => keys.map(({ id }) => id);

/** All keys, the newest first. */
async function newestFirst(store: Store): Promise<CursorKey[]> {
  return (await store.cursorKeys()).toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
}

export const cursorKeyTests: StoreTests = {
  'adds a key that waits while the key before it seals, for every open store': async (open) => {
    const [store, other] = [await open(), await open()];
    const [before] = await store.cursorKeys();
    const { key, retired, discarded } = await store.rotateCursorKey('keep', byTest);
    assert.deepEqual(comparable(await other.cursorKeys()), comparable([...retired, key]));
    assert.deepEqual([idsOf(retired), discarded], [[before!.id], []]);
    assert.deepEqual([key.status, retired[0]!.status], ['waiting', 'sealing']);
    const [old, made] = [retired[0]!, key].map(({ secret }) => Buffer.from(secret));
    assert.ok(old!.equals(before!.secret) && !made!.equals(before!.secret));
    assert.equal(made!.length, 32);
  },

  'discards all other keys, so that the new one seals at once': async (open) => {
    const [store, other] = [await open(), await open()];
    const first = await store.rotateCursorKey('keep', byTest);
    const { key, retired, discarded } = await store.rotateCursorKey('discard', byTest);
    assert.deepEqual([retired, discarded.toSorted()], [[], [...idsOf(first.retired), first.key.id]]);
    assert.equal(key.status, 'sealing');
    assert.deepEqual(comparable(await other.cursorKeys()), comparable([key]));
  },

  'keeps every key of simultaneous rotations, each with its own id': async (open) => {
    const handles = await Promise.all(Array.from({ length: 5 }, () => open()));
    const rounds = handles.flatMap((store) => [store, store, store]);
    const made = await Promise.all(rounds.map((store) => store.rotateCursorKey('keep', byTest)));
    const ids = made.map(({ key }) => key.id).toSorted((a, b) => a - b);
    assert.deepEqual(
      ids,
      ids.map((_id, index) => index + 1),
    );
    const kept = await newestFirst(handles[0]!);
    assert.deepEqual(idsOf(kept), [...ids.toReversed(), 0]);
    const secretOf = (keys: readonly CursorKey[], id: number) =>
      comparable(keys).find((key) => key.id === id)?.secret;
    for (const { key } of made) assert.equal(secretOf(kept, key.id), secretOf([key], key.id));
    assert.equal(new Set(kept.map(({ created_at }) => created_at)).size, kept.length);
  },
};
