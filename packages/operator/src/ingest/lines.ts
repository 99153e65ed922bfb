import { isUtf8 } from 'node:buffer';
import { ingestBounds } from '@partner-network/common/bounds/operator';
import type { Rejection } from './rejections.ts';

/** A line of input without its LF. A line that is too long has no text; bad bytes are replaced by U+FFFD. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
  readonly flaw: 'tooLong' | 'encoding' | undefined;
}

/** A record as it was read, before it is checked: its text, and its value or why it could not be read. */
export type Reading = { readonly line: number; readonly text?: string } & (
  | { readonly value: unknown }
  | { readonly rejections: readonly Rejection[]; readonly cutAt?: Cut }
);

/** Where the rest of a file became unreadable. Then nothing is written, even with skipsRejected. */
export type Cut = 'header' | 'record';

const newline = 0x0a;
const byteOrderMark = '\ufeff';

/**
 * Splits bytes into lines, without a leading BOM. Yields the lines of a chunk together, because a promise per
 * line would take longer than reading it. Memory is bounded by one chunk and one line.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Line[]> {
  // One buffer for all lines: a new buffer per 1 MiB line would leave dozens for the garbage collector.
  const held = Buffer.alloc(ingestBounds.importLineBytes);
  let heldBytes = 0;
  let number = 0;

  /** Keeps a part of a line. A line over the bound is only counted. */
  function hold(bytes: Uint8Array): void {
    if (heldBytes + bytes.length <= held.length) held.set(bytes, heldBytes);
    heldBytes += bytes.length;
  }

  function takeLine(): Line {
    const bytes = held.subarray(0, heldBytes);
    const isTooLong = heldBytes > held.length;
    heldBytes = 0;
    number += 1;
    if (isTooLong) return { number, text: '', flaw: 'tooLong' };
    const text = bytes.toString();
    const isMarked = number === 1 && text.startsWith(byteOrderMark);
    return { number, text: isMarked ? text.slice(1) : text, flaw: isUtf8(bytes) ? undefined : 'encoding' };
  }

  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, end));
      lines.push(takeLine());
      start = end + 1;
    }
    hold(chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (heldBytes > 0) yield [takeLine()];
}
