import { ingestBounds } from '../../bounds/ingest.ts';

/** A line of input: its number from 1, and its text, or undefined when it is too long or not UTF-8. */
export interface Line {
  readonly number: number;
  readonly text: string | undefined;
}

const newline = 0x0a;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const blank = /^[ \t\r]*$/;
const byteOrderMark = '\ufeff';

/**
 * Splits bytes into lines without blank ones and a leading BOM: for each chunk those that end in it, since a
 * promise for each line would take longer than reading it. Holds no more than a chunk and one line.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Line[]> {
  let number = 0;
  // Made once: a buffer for each line of a mebibyte would wait by the dozen to be collected.
  const held = Buffer.alloc(ingestBounds.importLineBytes);
  let heldBytes = 0;
  let lines: Line[] = [];

  function hold(bytes: Uint8Array): void {
    // A line past the bound is only counted, so that a file without line ends cannot fill the memory.
    if (heldBytes + bytes.length <= held.length) held.set(bytes, heldBytes);
    heldBytes += bytes.length;
  }

  function add(text: string | undefined): void {
    number += 1;
    const own = number === 1 && text?.startsWith(byteOrderMark) ? text.slice(1) : text;
    if (own === undefined || !blank.test(own)) lines.push({ number, text: own });
  }

  function addHeld(): void {
    add(heldBytes > held.length ? undefined : textOf(held.subarray(0, heldBytes)));
    heldBytes = 0;
  }

  for await (const chunk of chunks) {
    const first = chunk.indexOf(newline);
    const last = chunk.lastIndexOf(newline);
    if (first !== -1) {
      hold(chunk.subarray(0, first));
      addHeld();
      if (last > first) for (const text of textsOf(chunk.subarray(first + 1, last))) add(text);
    }
    hold(chunk.subarray(last + 1));
    if (lines.length > 0) yield lines;
    lines = [];
  }
  if (heldBytes > 0) addHeld();
  if (lines.length > 0) yield lines;
}

/** The texts of whole lines, decoded together where all of them are fine. */
function textsOf(block: Uint8Array): (string | undefined)[] {
  const together = textOf(block);
  return together === undefined ? Array.from(linesOf(block), textOf) : together.split('\n');
}

function* linesOf(block: Uint8Array): Generator<Uint8Array> {
  let start = 0;
  for (let end = block.indexOf(newline); end !== -1; end = block.indexOf(newline, start)) {
    yield block.subarray(start, end);
    start = end + 1;
  }
  yield block.subarray(start);
}

/** Undefined where it is longer than a line may be, or not UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > ingestBounds.importLineBytes) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
