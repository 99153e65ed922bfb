/** The model: what the events of a record lead to, in any order of arrival. */
import { isDeepStrictEqual } from 'node:util';
import { type Fields, type Kind, type ModelEvent, recordOfLine } from './events.ts';

/** Grants of the test itself, which no event changes, have ids with this prefix. */
export const steadyPrefix = 'steady-';

export const isFinal = ({ line }: ModelEvent) => line.status !== 'ACTIVE';

const byTime = (left: ModelEvent, right: ModelEvent) => (left.at < right.at ? -1 : 1);

export function byRecord(events: readonly ModelEvent[]): ReadonlyMap<string, readonly ModelEvent[]> {
  const grouped = Map.groupBy(events, ({ record }) => record);
  for (const ofRecord of grouped.values()) ofRecord.sort(byTime);
  return grouped;
}

/**
 * The line that an export has for the record, if any. The newest event decides: a deletion leaves nothing.
 * Of a grant the first final event decides, if there is one.
 */
function lineOf(ofRecord: readonly ModelEvent[]): Fields | undefined {
  const newest = ofRecord.at(-1)!;
  if (newest.kind === 'grants') return (ofRecord.find(isFinal) ?? newest).line;
  return newest.isDeletion ? undefined : newest.line;
}

/** Compares the lines of all exports with the model. Returns a sentence for each difference. */
export function differences(
  events: readonly ModelEvent[],
  exported: Readonly<Record<Kind, readonly string[]>>,
): string[] {
  const found = new Map<string, Fields>();
  for (const [kind, lines] of Object.entries(exported) as [Kind, readonly string[]][]) {
    for (const line of lines) {
      const fields = JSON.parse(line) as Fields;
      if (!String(fields.id).startsWith(steadyPrefix)) found.set(recordOfLine(kind, fields), fields);
    }
  }
  const known = byRecord(events);
  const unknown = [...found.keys()].filter((record) => !known.has(record));
  return [
    ...unknown.map((record) => `${record} has no event`),
    ...[...known].flatMap(([record, ofRecord]) => {
      const stored = found.get(record);
      const expected = withKnownExpiry(lineOf(ofRecord), stored, ofRecord);
      if (isDeepStrictEqual(expected, stored)) return [];
      return [`${record} is ${JSON.stringify(stored)} instead of ${JSON.stringify(expected)}`];
    }),
  ];
}

/**
 * The expiry of a final grant has no effect, and depends on the order: a line that comes before the final one
 * may make it earlier, the same line is stale afterwards. Any expiry that an event gave is accepted.
 */
function withKnownExpiry(
  expected: Fields | undefined,
  stored: Fields | undefined,
  ofRecord: readonly ModelEvent[],
): Fields | undefined {
  if (expected?.status === undefined || expected.status === 'ACTIVE') return expected;
  if (!ofRecord.some(({ line }) => line.expires_at === stored?.expires_at)) return expected;
  const { expires_at: _, ...rest } = expected;
  return stored?.expires_at === undefined ? rest : { ...rest, expires_at: stored.expires_at };
}
