import { bounds } from '../bounds.ts';

/** Where a record stands in its block, the line on which it starts, and how many lines it takes. */
export interface CsvRecord {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly lines: number;
}

/** Whole records; or the line of one that has no end, or none within the bound: nothing comes after it. */
type CsvPiece =
  | { readonly bytes: Buffer; readonly records: readonly CsvRecord[] }
  | { readonly endlessLine: number };

const newline = 0x0a;
const carriageReturn = 0x0d;
const comma = 0x2c;
const quote = 0x22;
const byteOrderMark = Buffer.from('\ufeff');
const nothing: Buffer = Buffer.alloc(0);

/**
 * Cuts CSV into its records without reading what is in them, and without blank lines and a leading BOM. The
 * parser does not tell on which line a record starts, nor where the next one is after a fault. Never holds
 * more than a record and a chunk.
 */
export async function* cutRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CsvPiece> {
  let rest = nothing;
  let line = 1;
  let isQuoted = false;

  for await (const chunk of withoutByteOrderMark(chunks)) {
    const bytes = Buffer.concat([rest, chunk]);
    let start = 0;
    let records: CsvRecord[] = [];
    for (let found = findEnd(bytes, start); ; found = findEnd(bytes, start)) {
      const { end, lines } = found;
      isQuoted = found.isQuoted;
      if (end === -1 || end - start > bounds.importLineBytes) break;
      if (!isBlank(bytes, start, end)) records.push({ start, end, line, lines });
      line += lines;
      start = end;
      // No more at once than are soon done with: cells that live long cost memory.
      if (records.length < bounds.importBatchRecords) continue;
      yield { bytes, records };
      records = [];
    }
    if (records.length > 0) yield { bytes, records };
    rest = bytes.subarray(start);
    // As a rule a quote that nobody closes: nobody knows where its record was to end.
    if (rest.length > bounds.importLineBytes) return yield { endlessLine: line };
  }
  if (isQuoted) yield { endlessLine: line };
  else if (!isBlank(rest, 0, rest.length)) {
    yield { bytes: rest, records: [{ start: 0, end: rest.length, line, lines: 1 }] };
  }
}

async function* withoutByteOrderMark(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let opening: Buffer | undefined = nothing;
  for await (const chunk of chunks) {
    if (opening === undefined) yield chunk;
    else {
      opening = Buffer.concat([opening, chunk]);
      if (opening.length < byteOrderMark.length) continue;
      const isMarked = opening.subarray(0, byteOrderMark.length).equals(byteOrderMark);
      yield isMarked ? opening.subarray(byteOrderMark.length) : opening;
      opening = undefined;
    }
  }
  if (opening !== undefined) yield opening;
}

interface End {
  /** Past the line end, or -1 when it is not there yet. */
  readonly end: number;
  readonly lines: number;
  readonly isQuoted: boolean;
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
      if (!isQuoted) return { end: position + 1, lines, isQuoted: false };
      lines += 1;
    }
  }
  return { end: -1, lines, isQuoted };
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  let position = start;
  while (bytes[position] === carriageReturn) position += 1;
  return position >= end || bytes[position] === newline;
}
