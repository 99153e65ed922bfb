import { ingestBounds } from '../../bounds/ingest.ts';

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
  | { readonly endlessLine: number; readonly isQuoted: boolean };

const newline = 0x0a;
const carriageReturn = 0x0d;
const comma = 0x2c;
const quote = 0x22;
const byteOrderMark = Buffer.from('\ufeff');
const nothing: Buffer = Buffer.alloc(0);

/**
 * Cuts CSV into its records without reading what is in them, and without blank lines and a leading BOM. The
 * parser does not tell on which line a record starts, nor where the next one is after a fault. Never holds
 * more than a record and a chunk, and looks at each byte once.
 */
export async function* cutRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CsvPiece> {
  const scanner = createScanner();
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let line = 1;

  for await (const chunk of withoutByteOrderMark(chunks)) {
    const ends = scanner.findEnds(chunk);
    const bytes = ends.length === 0 ? nothing : Buffer.concat([...held, chunk]);
    let start = 0;
    let records: CsvRecord[] = [];
    for (const { end: endInChunk, lines } of ends) {
      const end = heldBytes + endInChunk;
      if (end - start > ingestBounds.importLineBytes) break;
      if (!isBlank(bytes, start, end)) records.push({ start, end, line, lines });
      line += lines;
      start = end;
      // No more at once than are soon done with: cells that live long cost memory.
      if (records.length < ingestBounds.importBatchRecords) continue;
      yield { bytes, records };
      records = [];
    }
    if (records.length > 0) yield { bytes, records };
    if (start === 0) held.push(chunk);
    else held = [bytes.subarray(start)];
    heldBytes += chunk.length - start;
    // As a rule a quote that nobody closes: nobody knows where its record was to end.
    if (heldBytes > ingestBounds.importLineBytes)
      return yield { endlessLine: line, isQuoted: scanner.isQuoted() };
  }
  const rest = Buffer.concat(held);
  if (scanner.isQuoted()) yield { endlessLine: line, isQuoted: true };
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
  /** Past the line end. */
  readonly end: number;
  readonly lines: number;
}

interface Scanner {
  /** Where records end in the next chunk. */
  findEnds(chunk: Uint8Array): readonly End[];
  /** Whether the record that has no end yet is in quotes. */
  isQuoted(): boolean;
}

/** A record ends with a line end that is not in quotes; quotes begin where a cell does. */
function createScanner(): Scanner {
  let lines = 1;
  let isQuoted = false;
  // A record begins as a cell does after a comma.
  let before = comma;

  function findEnds(chunk: Uint8Array): End[] {
    const ends: End[] = [];
    for (let position = 0; position < chunk.length; position += 1) {
      const byte = chunk[position]!;
      if (byte === quote) {
        // A quote in quotes is written twice: it ends them and begins them again. A stray one does neither.
        if (!isQuoted && before !== comma && before !== quote) continue;
        isQuoted = !isQuoted;
      } else if (byte === newline && isQuoted) {
        lines += 1;
      } else if (byte === newline) {
        ends.push({ end: position + 1, lines });
        lines = 1;
        before = comma;
        continue;
      }
      before = byte;
    }
    return ends;
  }

  return { findEnds, isQuoted: () => isQuoted };
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  let position = start;
  while (bytes[position] === carriageReturn) position += 1;
  return position >= end || bytes[position] === newline;
}
