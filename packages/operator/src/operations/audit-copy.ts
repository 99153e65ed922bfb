/**
 * A copy of the audit log outside the database. The SHA-256 of each line covers the line before it, so that
 * nobody can change, remove or reorder lines without recomputing all that follow.
 */
import { createHash } from 'node:crypto';
import { commandLineBounds } from '@partner-network/common/bounds/common';
import type { AuditPosition, NumberedEntry, Store } from '@partner-network/store/port';

/** The content of a copy: the digests of its entries by their numbers, and the end of its chain. */
export interface AuditCopy {
  readonly entries: ReadonlyMap<number, string>;
  readonly newestMs: number;
  readonly digest: string;
  /** The first line that does not continue the chain. The lines after it were not read. */
  readonly brokenLine?: number;
  /** Lines that are not JSON, such as the last one before a power failure. The chain skips them. */
  readonly tornLines: number;
  readonly endsInsideLine: boolean;
}

export interface Difference {
  readonly kind: 'broken chain' | 'missing' | 'changed' | 'reordered' | 'added';
  /** The number of the line, if the chain is broken there. Otherwise `seq` is the number of the entry. */
  readonly line?: number;
  readonly seq?: number;
}

/**
 * An entry takes its number before its transaction ends, so a later number can be copied first. An entry
 * whose time is at most this far from the newest of the copy may have been committed after the copy ended.
 */
const committedLateMs = 60_000;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
/** Without the number, so that an entry under another number is recognized. */
const contentOf = ({ seq: _seq, ...entry }: NumberedEntry) => sha256(JSON.stringify(entry));

/** The line of an entry after the line with this digest; '' begins a chain. */
export function lineAfter(last: string, entry: NumberedEntry) {
  const digest = sha256(last + JSON.stringify(entry));
  return { digest, text: JSON.stringify({ entry, digest }) };
}

/** Reads a copy and checks its chain. */
export async function readCopy(chunks: AsyncIterable<Uint8Array>): Promise<AuditCopy> {
  const decoder = new TextDecoder();
  const entries = new Map<number, string>();
  let digest = '';
  let newestMs = 0;
  let tornLines = 0;
  let line = 0;
  let rest = '';
  /** Compares whole lines: a parser takes the last of two equal names, and a reader may take the first. */
  const add = (text: string): boolean => {
    line += 1;
    const value = parsed(text);
    if (value === undefined) {
      tornLines += 1;
      return true;
    }
    const entry = value?.entry;
    if (typeof entry?.seq !== 'number' || entries.has(entry.seq)) return false;
    const expected = lineAfter(digest, entry);
    digest = expected.digest;
    entries.set(entry.seq, contentOf(entry));
    newestMs = Math.max(newestMs, Date.parse(entry.at));
    return text === expected.text;
  };
  const copy = () => ({ entries, newestMs, digest, tornLines, endsInsideLine: rest !== '' });
  for await (const chunk of chunks) {
    const lines = decoder.decode(chunk, { stream: true }).split('\n');
    // Not before the split, which would read a long line again with each chunk.
    lines[0] = rest + lines[0];
    rest = lines.pop()!;
    if (!lines.every(add)) return { ...copy(), brokenLine: line };
  }
  return rest === '' || add(rest) ? copy() : { ...copy(), brokenLine: line };
}

function parsed(text: string): { readonly entry?: NumberedEntry } | null | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Where the entries begin that a copy does not have yet. Numbers that it lacks may be committed late. */
export function positionAfter({ entries }: AuditCopy): AuditPosition {
  const numbers = sorted(entries);
  const missing = numbers.slice(1).flatMap((number, index) => {
    const range = { from: numbers[index]! + 1, to: number - 1, until: '' };
    return range.from > range.to ? [] : [range];
  });
  return { last: numbers.at(-1) ?? 0, missing };
}

const sorted = (entries: AuditCopy['entries']) => [...entries.keys()].toSorted((one, other) => one - other);

/** Compares a copy with the database. Entries that came later do not count. */
export async function firstDifference(
  { followAudit }: Pick<Store, 'followAudit'>,
  { entries, newestMs, brokenLine }: AuditCopy,
): Promise<Difference | undefined> {
  if (brokenLine !== undefined) return { kind: 'broken chain', line: brokenLine };
  const numbers = sorted(entries);
  let index = 0;
  let last = (numbers[0] ?? 1) - 1;
  while (index < numbers.length) {
    const page = await followAudit({ last, missing: [] }, commandLineBounds.listPage);
    for (const row of page.entries) {
      const seq = numbers[index];
      if (seq === undefined) return;
      if (seq < row.seq) return { kind: 'missing', seq };
      const content = contentOf(row);
      if (seq === row.seq) {
        index += 1;
        if (content === entries.get(seq)) continue;
        return { kind: [...entries.values()].includes(content) ? 'reordered' : 'changed', seq };
      }
      // A time that cannot be read is not late.
      const isLate = Math.abs(Date.parse(row.at) - newestMs) <= committedLateMs;
      if (!isLate) return { kind: 'added', seq: row.seq };
    }
    if (page.entries.length === 0) return { kind: 'missing', seq: numbers[index]! };
    last = page.entries.at(-1)!.seq;
  }
}
