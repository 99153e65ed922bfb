import { bounds } from '../bounds.ts';

/** A line of input: its number from 1, and its text, or undefined when it is too long or not UTF-8. */
export interface Line {
  readonly number: number;
  readonly text: string | undefined;
}

const newline = 0x0a;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const blank = /^[ \t\r]*$/;
const byteOrderMark = '\ufeff';

/** Splits bytes into lines without blank ones and a leading BOM. Never holds more than one line. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let number = 0;
  let held: Uint8Array[] = [];
  let heldBytes = 0;

  function hold(bytes: Uint8Array): void {
    heldBytes += bytes.length;
    // A line past the bound is only counted, so that a file without line ends cannot fill the memory.
    if (heldBytes <= bounds.importLineBytes) held.push(bytes);
    else held = [];
  }

  function take(): Line | undefined {
    number += 1;
    const text = heldBytes > bounds.importLineBytes ? undefined : textOf(Buffer.concat(held), number === 1);
    held = [];
    heldBytes = 0;
    return text !== undefined && blank.test(text) ? undefined : { number, text };
  }

  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, end));
      start = end + 1;
      const line = take();
      if (line !== undefined) yield line;
    }
    hold(chunk.subarray(start));
  }
  const last = heldBytes > 0 ? take() : undefined;
  if (last !== undefined) yield last;
}

function textOf(bytes: Uint8Array, isFirst: boolean): string | undefined {
  try {
    const text = utf8.decode(bytes);
    return isFirst && text.startsWith(byteOrderMark) ? text.slice(1) : text;
  } catch {
    return undefined;
  }
}
