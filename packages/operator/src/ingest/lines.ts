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
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
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
  let lines: Line[] = [];

  /** Keeps the part of a line that the next chunk continues. A line over the bound is only counted. */
  function hold(bytes: Uint8Array): void {
    if (heldBytes + bytes.length <= held.length) held.set(bytes, heldBytes);
    heldBytes += bytes.length;
  }

  function add(text: string, flaw?: Line['flaw']): void {
    number += 1;
    lines.push({ number, text: number === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text, flaw });
  }

  function addBytes(bytes: Uint8Array, length = bytes.length): void {
    if (length > ingestBounds.importLineBytes) add('', 'tooLong');
    else add(utf8.decode(bytes), isUtf8(bytes) ? undefined : 'encoding');
  }

  function addHeld(): void {
    addBytes(held.subarray(0, heldBytes), heldBytes);
    heldBytes = 0;
  }

  for await (const chunk of chunks) {
    const first = chunk.indexOf(newline);
    const last = chunk.lastIndexOf(newline);
    if (first !== -1) {
      hold(chunk.subarray(0, first));
      addHeld();
    }
    const whole = chunk.subarray(first + 1, Math.max(first + 1, last));
    // Decoding all lines at once is faster, and possible unless one of them has a flaw.
    if (last > first && whole.length <= ingestBounds.importLineBytes && isUtf8(whole)) {
      for (const text of utf8.decode(whole).split('\n')) add(text);
    } else if (last > first) {
      for (const bytes of split(whole)) addBytes(bytes);
    }
    hold(chunk.subarray(last + 1));
    if (lines.length > 0) yield lines;
    lines = [];
  }
  if (heldBytes > 0) addHeld();
  if (lines.length > 0) yield lines;
}

function* split(bytes: Uint8Array): Generator<Uint8Array> {
  let start = 0;
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
    yield bytes.subarray(start, end);
    start = end + 1;
  }
  yield bytes.subarray(start);
}
