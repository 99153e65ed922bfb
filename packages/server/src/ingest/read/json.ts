/** JSON as an import takes it: stricter than JSON.parse, which forgets repeated keys and rounds numbers. */
import { isPlainInteger } from '../../lib/text.ts';

/** A number that is not a plain integer which JavaScript holds exactly; its digits as they were written. */
export class InexactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

type JsonReading =
  | { readonly value: unknown }
  | { readonly fault: 'INVALID_JSON' | 'DUPLICATE_KEY'; readonly path?: readonly string[] };

function keepExact(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const isExact = isPlainInteger(context.source!) && Number.isSafeInteger(value);
  return isExact ? value : new InexactNumber(context.source!);
}

export function readJson(text: string): JsonReading {
  return readPlainJson(text) ?? readAnyJson(text);
}

const colon = 0x3a;
/** In a number: a point, and what begins an exponent (in `true` and `false`, too). */
const [point, lowerE, upperE] = [0x2e, 0x65, 0x45];

/**
 * Nearly every line has no escapes and only plain integers: without them, plain JSON.parse rounds nothing
 * that cannot be seen in its value, and forgets a repeated key where there are fewer keys than colons. Ten
 * times as fast as looking at each token; undefined where it takes that.
 */
function readPlainJson(text: string): JsonReading | undefined {
  const colons = text.includes('\\') ? undefined : colonsOutsideStrings(text);
  if (colons === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: 'INVALID_JSON' };
  }
  return keysOf(value, 0) === colons ? { value } : undefined;
}

/**
 * Of a text without escapes; undefined where a number may not be plain. From quotation mark to quotation
 * mark, which is twice as fast as to look at each character.
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
    // Without a closing one it is no JSON, which its parser says.
    if (closing === -1) return colons;
    index = closing + 1;
  }
}

/** A record has one object, its metadata, within. */
const plainDepth = 2;

/** How many keys there are in all; NaN where there are lists, deeper objects or rounded numbers, too. */
function keysOf(value: unknown, depth: number): number {
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0) ? 0 : Number.NaN;
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === plainDepth || Array.isArray(value)) return Number.NaN;
  let count = 0;
  for (const key of Object.keys(value))
    count += 1 + keysOf((value as Record<string, unknown>)[key], depth + 1);
  return count;
}

/** Token by token, for all that JSON can hold. */
export function readAnyJson(text: string): JsonReading {
  let value: unknown;
  try {
    value = JSON.parse(text, keepExact as Parameters<typeof JSON.parse>[1]);
  } catch {
    // Also nesting too deep for the stack, which is no record either.
    return { fault: 'INVALID_JSON' };
  }
  const path = repeatedKey(text);
  return path === undefined ? { value } : { fault: 'DUPLICATE_KEY', path };
}

/** Strings, with the colon that makes one a key, and what opens and closes an object. */
const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g;

/**
 * The first key that stands twice in one object of valid JSON, after the key that its object has: in parts,
 * because each may be about a person. Of what is deeper than any record, where it begins.
 */
function repeatedKey(text: string): readonly string[] | undefined {
  const open: { readonly path: readonly string[]; readonly keys: Set<string> }[] = [];
  let path: readonly string[] = [];
  for (const [token, string, colon] of text.matchAll(tokens)) {
    if (token === '{') open.push({ path, keys: new Set() });
    else if (token === '}') path = open.pop()!.path;
    else if (colon !== undefined) {
      // Decoded, because "a" and "\u0061" are the same key.
      const key = JSON.parse(string!) as string;
      const object = open.at(-1)!;
      path = object.path.length < plainDepth ? [...object.path, key] : object.path;
      if (object.keys.has(key)) return path;
      object.keys.add(key);
    }
  }
  return undefined;
}
