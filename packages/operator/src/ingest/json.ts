/** A JSON reader for imports: JSON.parse drops repeated keys and rounds numbers, this one reports them. */
import { type Reading, readLines } from './lines.ts';
import { rejection } from './rejections.ts';

/** A number that JavaScript would not write in the same digits, such as 1.0. Keeps the digits as written. */
export class InexactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

type JsonReading =
  | { readonly value: unknown }
  | { readonly code: 'INVALID_JSON' | 'DUPLICATE_KEY'; readonly path?: readonly string[] };

function keepExact(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value !== 'number' || String(value) === source ? value : new InexactNumber(source!);
}

/** Matches strings, to keep them, and the blanks between the parts of JSON. */
const stringsAndBlanks = /("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g;

/**
 * Nearly all lines are what JSON.stringify writes, besides blanks: then no key is repeated and no number is
 * rounded. That takes 3 µs per line, and 7 µs with blanks; with a reviver and tokens it takes 12.6 µs.
 */
export function readJson(text: string): JsonReading {
  try {
    const value = JSON.parse(text);
    const written = JSON.stringify(value);
    if (written === text || written === text.replace(stringsAndBlanks, '$1')) return { value };
    const path = repeatedKey(text);
    if (path !== undefined) return { code: 'DUPLICATE_KEY', path };
    return { value: JSON.parse(text, keepExact as Parameters<typeof JSON.parse>[1]) };
  } catch {
    // Also thrown for nesting that is too deep for the stack.
    return { code: 'INVALID_JSON' };
  }
}

/** The depth of a record: its only inner object is its metadata. */
const recordDepth = 2;

/** Matches strings, with the colon if the string is a key, and braces. */
const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g;

/**
 * The path of the first key that occurs twice in one object of valid JSON. It is a list, because each part is
 * searched for personal data. It ends at the depth of a record.
 */
function repeatedKey(text: string): readonly string[] | undefined {
  const open: { readonly path: readonly string[]; readonly keys: Set<string> }[] = [];
  let path: readonly string[] = [];
  for (const [token, string, colon] of text.matchAll(tokens)) {
    if (token === '{') open.push({ path, keys: new Set() });
    else if (token === '}') path = open.pop()!.path;
    else if (colon !== undefined) {
      // Decoded: "a" and "\u0061" are the same key.
      const key = JSON.parse(string!) as string;
      const object = open.at(-1)!;
      path = object.path.length < recordDepth ? [...object.path, key] : object.path;
      if (object.keys.has(key)) return path;
      object.keys.add(key);
    }
  }
  return undefined;
}

const blank = /^[ \t\r]*$/;

/** Reads JSON Lines: one record per line; blank lines are skipped. */
export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Reading[]> {
  for await (const lines of readLines(chunks)) {
    const readings: Reading[] = [];
    for (const { number: line, text, flaw } of lines) {
      if (flaw === undefined && blank.test(text)) continue;
      const reading = flaw === undefined ? readJson(text) : { code: 'INVALID_JSON' as const };
      if ('code' in reading)
        readings.push({ line, text, rejections: [rejection(reading.code, reading.path)] });
      else readings.push({ line, text, value: reading.value });
    }
    yield readings;
  }
}

const newline = 0x0a;
const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openings = [...Buffer.from('[{')];
const closings = [...Buffer.from(']}')];
const blanks = [...Buffer.from(' \t\r\n')];
/** No string of JSON may contain it. */
const control = 0x01;
/** Readers of lines skip it. */
const byteOrderMark = [0xef, 0xbb, 0xbf];

/**
 * Reads a JSON list as lines, one for each item. Throws the error of `broken` for anything else, also while
 * it is read: an item that is not JSON spoils the list. Only an item that is too long is rejected alone.
 */
export function readJsonList(
  pieces: readonly Uint8Array[],
  broken: (item?: number) => unknown,
): () => AsyncGenerator<readonly Reading[]> {
  if (!makeLines(pieces)) throw broken();
  return async function* () {
    for await (const readings of readJsonLines(piecesOf(pieces))) {
      const wrong = readings.find(isNotJson);
      if (wrong !== undefined) throw broken(wrong.line);
      yield readings;
    }
  };
}

/** A line that is too long has no text. */
function isNotJson(reading: Reading): boolean {
  return 'rejections' in reading && reading.rejections[0]?.code === 'INVALID_JSON' && reading.text !== '';
}

export async function* piecesOf(body: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* body;
}

/**
 * Turns a JSON list into lines, one for each item, in place: a copy of 16 MiB as text takes 32 MB. Whether an
 * item is JSON is found out when its line is read. Returns false if the bytes are not a list.
 */
function makeLines(pieces: readonly Uint8Array[]): boolean {
  let depth = 0;
  let items = 0;
  let isInString = false;
  let isEscaped = false;
  let isEmpty = true;
  let isOver = false;
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at]!;
      if (isInString) {
        if (byte === newline) piece[at] = control;
        isInString = isEscaped || byte !== quote;
        isEscaped = byte === backslash && !isEscaped;
      } else if (blanks.includes(byte)) {
        piece[at] = space;
      } else if (depth === 0) {
        if (!isOver && byteOrderMark.includes(byte)) continue;
        if (isOver || byte !== openings[0]) return false;
        depth = 1;
        piece[at] = space;
      } else if (byte === comma && depth === 1) {
        // An item without a text keeps the comma: a blank line would be skipped.
        if (!isEmpty) piece[at] = newline;
        items += 1;
        isEmpty = true;
      } else {
        if (byte === quote) isInString = true;
        else if (openings.includes(byte)) depth += 1;
        else if (closings.includes(byte)) depth -= 1;
        if (depth === 0 && byte !== closings[0]) return false;
        isOver = depth === 0;
        if (isOver) piece[at] = isEmpty && items > 0 ? comma : space;
        isEmpty = false;
      }
    }
  }
  return isOver;
}
