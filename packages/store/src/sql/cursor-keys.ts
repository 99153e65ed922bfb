/**
 * Decides which cursor key seals and which keys open, only from their creation times and the database's
 * clock. No job has to run at a certain time, so no key stays valid because a job failed.
 *
 * A key's states, in this order:
 * - waiting: younger than `cursorKeySettleMs`, until every instance has read it;
 * - sealing: the newest key that is not waiting;
 * - opening: until `cursorKeyRestMs` after the next key started to seal;
 * - past: opens nothing, and is deleted by the next rotation.
 */
import { randomBytes } from 'node:crypto';
import { cursorsBounds } from '@partner-network/common/bounds/service';
import { OperatorError } from '@partner-network/common/errors';
import { toTime } from '@partner-network/common/times';
import type { CursorKey, Store } from '../port.ts';
import { changeStatement } from './audit.ts';
import { type Differences, insert, type Sql } from './statement.ts';

/** Selects all keys, newest first. No two keys have the same creation time. */
export function selectCursorKeys(moreColumns = ''): string {
  return `select id, secret, created_at${moreColumns} from cursor_keys order by created_at desc, id desc`;
}

export type StoredCursorKey = Pick<CursorKey, 'id' | 'secret' | 'created_at'>;

/** A cursor has one byte for the key's id. */
const idCount = 256;

/**
 * The keys that are not past: the sealing key first, then the others, newest first. Past keys are the oldest,
 * so they are last in `stored`, and a living key has the same index in both lists.
 */
export function livingKeys(stored: readonly StoredCursorKey[], nowMs: number): CursorKey[] {
  const living = stored.filter((_key, index) => opensUntilMs(stored, index) > nowMs);
  const settled = living.findIndex((key) => sealsFromMs(key) <= nowMs);
  // If no key has waited long enough, as in a new database, the oldest waiting key seals at once.
  const sealing = settled === -1 ? living.length - 1 : settled;
  const keys = living.map((key, index): CursorKey => {
    const opens = index === 0 ? {} : { opens_until: toTime(opensUntilMs(stored, index)) };
    if (index < sealing) return { ...key, status: 'waiting', seals_from: toTime(sealsFromMs(key)), ...opens };
    return { ...key, status: index === sealing ? 'sealing' : 'opening', ...opens };
  });
  return [...keys.splice(sealing, 1), ...keys];
}

function sealsFromMs({ created_at }: StoredCursorKey): number {
  return Date.parse(created_at) + cursorsBounds.keySettleMs;
}

/** When the last cursor of a key expires. `stored` is newest first: the key before this one replaced it. */
function opensUntilMs(stored: readonly StoredCursorKey[], index: number): number {
  const next = stored[index - 1];
  return next === undefined ? Number.POSITIVE_INFINITY : sealsFromMs(next) + cursorsBounds.keyRestMs;
}

export function planRotation(stored: readonly StoredCursorKey[], nowMs: number, old: 'keep' | 'discard') {
  const living = livingKeys(stored, nowMs);
  const kept = old === 'keep' ? stored.slice(0, living.length) : [];
  const newestMs = kept[0] === undefined ? 0 : Date.parse(kept[0].created_at);
  const key: StoredCursorKey = {
    id: freeId(kept, stored[0]),
    secret: randomBytes(32),
    // Always newer than the other keys, even if the clock was set back.
    created_at: toTime(Math.max(nowMs, newestMs + 1)),
  };
  const after = livingKeys([key, ...kept], nowMs);
  return {
    key: after.find(({ id }) => id === key.id)!,
    retired: after.filter(({ id }) => id !== key.id),
    discarded: old === 'keep' ? [] : living.map(({ id }) => id),
    /** Keys to delete before the new key is written: discarded keys and past keys. */
    removed: stored.slice(kept.length).map(({ id }) => id),
  };
}

export function createRotation(
  { transaction }: Sql,
  { locks, clock }: Differences,
): Store['rotateCursorKey'] {
  return (old, by) =>
    transaction(function* () {
      for (const lock of locks.rotateCursorKey) yield [lock];
      const stored = (yield [selectCursorKeys()]) as unknown as StoredCursorKey[];
      const nowMs = clock === undefined ? Date.now() : Date.parse(String((yield [clock])[0]!.now));
      const { removed, ...rotation } = planRotation(stored, nowMs, old);
      for (const id of removed) yield ['delete from cursor_keys where id = $1', id];
      if (old === 'discard') {
        yield ['delete from session_keys'];
        // Without a secret, which the database makes.
        yield insert('session_keys', 'id, created_at', { id: 0, created_at: rotation.key.created_at });
      }
      yield insert('cursor_keys', 'id, secret, created_at', rotation.key);
      const { key, discarded } = rotation;
      yield changeStatement(by, 'cursor keys', { new_key: key.id, discarded });
      return rotation;
    });
}

/** The id after the newest key's. Ids are used in turn, so if it is taken, all of them are. */
function freeId(kept: readonly StoredCursorKey[], newest: StoredCursorKey | undefined): number {
  const next = newest === undefined ? 0 : (newest.id + 1) % idCount;
  if (!kept.some(({ id }) => id === next)) return next;
  const freeAt = toTime(opensUntilMs(kept, kept.length - 1));
  throw new OperatorError(
    `All ${idCount} ids of cursor keys are in use. Rotate again after ${freeAt}, or with --discard-old.`,
  );
}
