/**
 * Compares what readers see with what the events sent so far can have led to. What is stored is the result of
 * some of the sent events, and of all confirmed ones. So, for one reader of the primary:
 *
 * - a record on a page is a version that a sent event made, and never older than one seen or confirmed
 *   before;
 * - a record that was seen or confirmed is missing only if a later event deleted it, and comes back only by
 *   an event after that deletion;
 * - a grant goes from absent to active to final and never back, and a final status is replaced only by that
 *   of an earlier event.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Fields, ModelEvent } from './events.ts';
import { byRecord, isFinal } from './expected.ts';

export type GrantState = 'NOT_FOUND' | 'ACTIVE' | 'REVOKED' | 'CONSUMED' | 'EXPIRED';
export type Observer = ReturnType<typeof createObserver>;

export function createObserver(events: readonly ModelEvent[]) {
  const known = byRecord(events);
  const sent = new Set<ModelEvent>();
  /** By record: the latest time of a confirmed event. */
  const confirmed = new Map<string, string>();
  /** By grant: the earliest time of a confirmed final event. */
  const ended = new Map<string, string>();
  const violations: string[] = [];
  const report = (record: string, fault: string) => void violations.push(`${record} ${fault}`);

  /** The time of the newest event that must have been applied, judging by what a reader saw. */
  function timeSeen(record: string, seen: Fields | undefined, atLeast: string): string {
    const ofRecord = (known.get(record) ?? []).filter((event) => sent.has(event));
    if (seen === undefined) {
      if (atLeast === '') return atLeast;
      const deletion = ofRecord.find(({ isDeletion, at }) => isDeletion && at >= atLeast);
      if (deletion === undefined) report(record, `is missing, although nothing deleted it after ${atLeast}`);
      return deletion?.at ?? atLeast;
    }
    const event = ofRecord.find(({ isDeletion, at }) => !isDeletion && at === seen.updated_at);
    if (event === undefined || !isDeepStrictEqual(shown(event), seen)) {
      report(record, `is ${JSON.stringify(seen)}, which no event made`);
    } else if (event.at < atLeast) {
      report(record, `went back from ${atLeast} to ${event.at}`);
    }
    return event !== undefined && event.at > atLeast ? event.at : atLeast;
  }

  function reader() {
    const seenTimes = new Map<string, string>();
    const grants = new Map<string, { rank: number; endedBy: string }>();
    let pages = 0;
    return {
      pages: () => pages,
      /** Called before a page is requested. The result takes the page: the records of this range by name. */
      expectPage: () => {
        const floors = new Map(confirmed);
        return (inRange: Iterable<string>, records: ReadonlyMap<string, Fields>) => {
          pages += 1;
          for (const record of records.keys()) if (!known.has(record)) report(record, 'has no event');
          for (const record of inRange) {
            const before = [seenTimes.get(record) ?? '', floors.get(record) ?? ''].sort()[1]!;
            seenTimes.set(record, timeSeen(record, records.get(record), before));
          }
        };
      },
      /** The same for a grant. */
      expectGrant: (record: string) => {
        const { rank, endedBy } = grants.get(record) ?? { rank: 0, endedBy: '9' };
        const endedAt = ended.get(record) ?? '9';
        const least = Math.max(rank, confirmed.has(record) ? 1 : 0, ended.has(record) ? 2 : 0);
        const until = endedAt < endedBy ? endedAt : endedBy;
        return (state: GrantState) => {
          pages += 1;
          const found = state === 'NOT_FOUND' ? 0 : state === 'ACTIVE' ? 1 : 2;
          const causes = known.get(record)!.filter((event) => sent.has(event) && event.line.status === state);
          const possible = causes.filter(({ at }) => found < 2 || at <= until);
          if (found < least || (found > 0 && possible.length === 0)) {
            report(record, `is ${state}, which the events do not allow any more, or not yet`);
          }
          const last = found === 2 ? (possible.at(-1)?.at ?? until) : until;
          grants.set(record, { rank: Math.max(found, least), endedBy: last });
        };
      },
    };
  }

  return {
    violations,
    records: known,
    reader,
    /** Call before the events are handed to a follower. */
    send: (some: readonly ModelEvent[]) => {
      for (const event of some) sent.add(event);
    },
    /** Call after a follower has confirmed all of the events. */
    confirm: (some: readonly ModelEvent[]) => {
      for (const event of some) {
        const { record, at, kind } = event;
        if (at > (confirmed.get(record) ?? '')) confirmed.set(record, at);
        if (kind === 'grants' && isFinal(event) && at < (ended.get(record) ?? '9')) ended.set(record, at);
      }
    },
  };
}

/** What partners see of an event: a brand does not name its partner. */
function shown({ kind, line }: ModelEvent): Fields {
  if (kind !== 'brands') return line;
  const { partner_id: _, ...brand } = line;
  return brand;
}
