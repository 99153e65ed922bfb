/**
 * Which cursor key seals and which ones open: told from when each was made, so that nothing has to happen at
 * a certain time, and nothing stays open because it did not. Times are those of the database's clock.
 */
import { randomBytes } from 'node:crypto';
import { cursorsBounds } from '../../bounds/cursors.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { toTime } from '../../lib/times.ts';
import type { CursorKey, CursorKeyRotation } from '../port.ts';
import type { Sql } from './accounts.ts';

/** Newest first; no two are of one time. With more columns, where the engine has more to tell. */
export function selectCursorKeys(more = ''): string {
  return `select id, secret, created_at${more} from cursor_keys order by created_at desc, id desc`;
}

export type StoredCursorKey = Pick<CursorKey, 'id' | 'secret' | 'created_at'>;

/** A cursor has a byte for the id. */
const ids = 256;

/** The keys that live, the one that seals first. */
export function livingKeys(stored: readonly StoredCursorKey[], nowMs: number): CursorKey[] {
  const living = stored.filter((_key, index) => opensUntilMs(stored, index) > nowMs);
  const settled = living.findIndex((key) => sealsFromMs(key) <= nowMs);
  // The first of a database, or the one after a leak, has none before it to seal meanwhile.
  const sealing = settled === -1 ? living.length - 1 : settled;
  const keys = living.map((key, index): CursorKey => {
    const opens = index === 0 ? {} : { opens_until: toTime(opensUntilMs(stored, index)) };
    if (index < sealing) return { ...key, status: 'waiting', seals_from: toTime(sealsFromMs(key)), ...opens };
    return { ...key, status: index === sealing ? 'sealing' : 'opening', ...opens };
  });
  return [...keys.slice(sealing, sealing + 1), ...keys.slice(0, sealing), ...keys.slice(sealing + 1)];
}

function sealsFromMs({ created_at }: StoredCursorKey): number {
  return Date.parse(created_at) + cursorsBounds.cursorKeySettleMs;
}

/** Long enough after the next one seals that all it has sealed is expired. */
function opensUntilMs(stored: readonly StoredCursorKey[], index: number): number {
  const next = stored[index - 1];
  return next === undefined ? Number.POSITIVE_INFINITY : sealsFromMs(next) + cursorsBounds.cursorKeyRestMs;
}

interface RotationPlan extends CursorKeyRotation {
  /** What is to be deleted before the new key is written: those that are discarded, and those past. */
  readonly removed: readonly number[];
}

/** What a rotation does to these keys; it is for the engine to do it while nobody else can. */
export function planRotation(
  stored: readonly StoredCursorKey[],
  nowMs: number,
  old: 'keep' | 'discard',
): RotationPlan {
  const living = livingKeys(stored, nowMs);
  // Those past their time are the oldest, and stand last.
  const kept = old === 'keep' ? stored.slice(0, living.length) : [];
  const key: StoredCursorKey = {
    id: freeId(kept, stored[0]),
    secret: randomBytes(32),
    // The newest of those that stay, whatever has become of the clock since the last one.
    created_at: toTime(Math.max(nowMs, Date.parse(kept[0]?.created_at ?? toTime(0)) + 1)),
  };
  const after = livingKeys([key, ...kept], nowMs);
  return {
    key: after.find(({ id }) => id === key.id)!,
    retired: after.filter(({ id }) => id !== key.id),
    discarded: old === 'keep' ? [] : living.map(({ id }) => id),
    removed: stored.slice(kept.length).map(({ id }) => id),
  };
}

/** After the last one, round and round: an id comes again as late as can be. */
function freeId(kept: readonly StoredCursorKey[], newest: StoredCursorKey | undefined): number {
  const taken = new Set(kept.map(({ id }) => id));
  const first = newest === undefined ? 0 : newest.id + 1;
  const free = Array.from({ length: ids }, (_, offset) => (first + offset) % ids).find(
    (id) => !taken.has(id),
  );
  if (free !== undefined) return free;
  const freeAt = toTime(opensUntilMs(kept, kept.length - 1));
  throw new OperatorError(
    `There have been ${ids} cursor keys within a day, and no more can be told apart: ` +
      `rotate again after ${freeAt}, or with --discard-old.`,
  );
}

/** When the newest one was made, for whoever wonders whether they are renewed. */
export async function newestCursorKey(rows: Sql['rows']): Promise<string | undefined> {
  const [newest] = await rows('select created_at from cursor_keys order by created_at desc limit 1');
  return newest?.created_at as string | undefined;
}
