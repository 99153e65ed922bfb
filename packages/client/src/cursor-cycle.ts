/** Cycles of up to so many pages are noticed before a record comes twice. */
const recentCursors = 100;

/** What a page knows of the cursors before it. Never changed: `next()` may be called twice on one page. */
export interface Trail {
  readonly recent: readonly string[];
  readonly anchor: string | undefined;
  readonly pages: number;
}

/** Of a walk that begins at a cursor, or at the first page. */
export function trailFrom(cursor: unknown): Trail {
  const recent = typeof cursor === 'string' ? [cursor] : [];
  return { recent, anchor: recent[0], pages: 0 };
}

/**
 * The trail with one more cursor, or null when the walk has been there. The recent ones alone would let a
 * cycle of 101 pages go on forever, and all of them would grow with the walk. The anchor, which moves up
 * whenever the number of pages doubles (Brent's way), finds a cycle of any length within three rounds, for
 * one more string.
 */
export function follow({ recent, anchor, pages }: Trail, cursor: string): Trail | null {
  if (cursor === anchor || recent.includes(cursor)) return null;
  const isAtPower = (pages & (pages - 1)) === 0;
  return {
    recent: [...recent.slice(1 - recentCursors), cursor],
    anchor: isAtPower ? cursor : anchor,
    pages: pages + 1,
  };
}
