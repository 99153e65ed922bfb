/** A JSON reader for imports: JSON.parse drops repeated keys and rounds numbers, this one reports them. */
import { isPlainInteger } from '@partner-network/common/text';
import { type Reading, readLines } from './lines.ts';
import { rejection } from './rejections.ts';

/** A number that is not a plain integer, or that JavaScript would round. Keeps the digits as written. */
export class InexactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

type JsonReading =
  | { readonly value: unknown }
  | { readonly code: 'INVALID_JSON' | 'DUPLICATE_KEY'; readonly path?: readonly string[] };

function keepExact(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const isExact = isPlainInteger(context.source!) && Number.isSafeInteger(value);
  return isExact ? value : new InexactNumber(context.source!);
}

export function readJson(text: string): JsonReading {
  return readPlainJson(text) ?? readAnyJson(text);
}

const colon = 0x3a;
/** A decimal point or an exponent. `true` and `false` contain an e, too. */
const point = 0x2e;
const lowerE = 0x65;
const upperE = 0x45;

/**
 * Reads lines without escapes, fractions and exponents, as nearly all are: then rounding shows in the value,
 * and a key is repeated if there are fewer keys than colons. Takes 1.7 us per line; with a reviver and tokens
 * it takes 12.6 us. Returns undefined if the line needs tokens.
 */
function readPlainJson(text: string): JsonReading | undefined {
  const colons = text.includes('\\') ? undefined : colonsOutsideStrings(text);
  if (colons === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { code: 'INVALID_JSON' };
  }
  return keysOf(value, 0) === colons ? { value } : undefined;
}

/**
 * Counts the colons of a text without escapes; undefined if a number may not be plain. Jumps from quotation
 * mark to quotation mark, which is twice as fast as reading each character.
 */
function colonsOutsideStrings(text: string): number | undefined {
  let colons = 0;
  let index = 0;
  for (;;) {
    const opening = text.indexOf('"', index);
    const end = opening === -1 ? text.length : opening;
    for (; index < end; index += 1) {
      const code = text.charCodeAt(index);
      if (code === colon) colons += 1;
      else if (code === point || code === lowerE || code === upperE) return undefined;
    }
    const closing = opening === -1 ? -1 : text.indexOf('"', opening + 1);
    // Without a closing quotation mark, JSON.parse throws.
    if (closing === -1) return colons;
    index = closing + 1;
  }
}

/** The depth of a record: its only inner object is its metadata. */
const plainDepth = 2;

/** Counts all keys. NaN if the value has lists, deeper objects or rounded numbers. */
function keysOf(value: unknown, depth: number): number {
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0) ? 0 : Number.NaN;
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === plainDepth || Array.isArray(value)) return Number.NaN;
  let count = 0;
  for (const key of Object.keys(value))
    count += 1 + keysOf((value as Record<string, unknown>)[key], depth + 1);
  return count;
}

/** Reads any JSON, token by token. */
export function readAnyJson(text: string): JsonReading {
  let value: unknown;
  try {
    value = JSON.parse(text, keepExact as Parameters<typeof JSON.parse>[1]);
  } catch {
    // Also thrown for nesting that is too deep for the stack.
    return { code: 'INVALID_JSON' };
  }
  const path = repeatedKey(text);
  return path === undefined ? { value } : { code: 'DUPLICATE_KEY', path };
}

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
      path = object.path.length < plainDepth ? [...object.path, key] : object.path;
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
