import { bounds } from '../bounds.ts';

/** Where a record stands in its block, the line on which it starts, and how many lines it takes. */
export interface CsvRecord {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly lines: number;
}

/** Whole records; or the line of one that does not end within the bound, and whether it is known where to go on. */
export type CsvPiece =
  | { readonly bytes: Buffer; readonly records: readonly CsvRecord[] }
  | { readonly line: number; readonly isLast: boolean };

const newline = 0x0a;
const carriageReturn = 0x0d;
const comma = 0x2c;
const quote = 0x22;
const byteOrderMark = Buffer.from('\ufeff');

/**
 * Cuts CSV into its records without reading what is in them, and without blank lines and a leading BOM. The
 * parser does not tell on which line a record starts, nor where the next one is after a fault. Never holds
 * more than a record and a chunk.
 */
export async function* cutRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CsvPiece> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;
  let isAtStart = true;
  let isOverlong = false;
  let isQuoted = false;

  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    rest = bytes;
    let start = 0;
    if (isAtStart) {
      if (bytes.length < byteOrderMark.length) continue;
      if (bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)) start = byteOrderMark.length;
      isAtStart = false;
    }
    if (isOverlong) {
      start = bytes.indexOf(newline) + 1;
      rest = Buffer.alloc(0);
      if (start === 0) continue;
      line += 1;
      isOverlong = false;
    }
    const records: CsvRecord[] = [];
    for (;;) {
      const { end, lines, isQuotedAtEnd } = findEnd(bytes, start);
      isQuoted = isQuotedAtEnd;
      if (end === -1) break;
      if (!isBlank(bytes, start, end)) records.push({ start, end, line, lines });
      line += lines;
      start = end;
    }
    if (records.length > 0) yield { bytes, records };
    rest = bytes.subarray(start);
    if (rest.length > bounds.importLineBytes) {
      // In quotes nobody knows where the record ends; a file without line ends cannot fill the memory either.
      yield { line, isLast: isQuoted };
      if (isQuoted) return;
      isOverlong = true;
      rest = Buffer.alloc(0);
    }
  }
  if (isQuoted) yield { line, isLast: true };
  else if (!isBlank(rest, 0, rest.length)) {
    yield { bytes: rest, records: [{ start: 0, end: rest.length, line, lines: 1 }] };
  }
}

interface End {
  /** Past the line end, or -1 when it is not there yet. */
  readonly end: number;
  readonly lines: number;
  readonly isQuotedAtEnd: boolean;
}

/** A record ends with a line end that is not in quotes; quotes begin where a cell does. */
function findEnd(bytes: Buffer, start: number): End {
  let lines = 1;
  let isQuoted = false;
  for (let position = start; position < bytes.length; position += 1) {
    const byte = bytes[position];
    if (byte === quote) {
      // A quote in quotes is written twice: it ends them and begins them again.
      const before = position === start ? comma : bytes[position - 1];
      isQuoted = !isQuoted && (before === comma || before === quote);
    } else if (byte === newline) {
      if (!isQuoted) return { end: position + 1, lines, isQuotedAtEnd: false };
      lines += 1;
    }
  }
  return { end: -1, lines, isQuotedAtEnd: isQuoted };
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  let position = start;
  while (bytes[position] === carriageReturn) position += 1;
  return position >= end || bytes[position] === newline;
}
