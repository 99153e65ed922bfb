/** JSON as an import takes it: stricter than JSON.parse, which forgets repeated keys and rounds numbers. */

import { isPlainInteger } from '../text.ts';

/** A number that is not a plain integer which JavaScript holds exactly; its digits as they were written. */
export class InexactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

type JsonReading =
  | { readonly value: unknown }
  | { readonly fault: 'INVALID_JSON' | 'DUPLICATE_KEY'; readonly key?: string };

function keepExact(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const isExact = isPlainInteger(context.source!) && Number.isSafeInteger(value);
  return isExact ? value : new InexactNumber(context.source!);
}

export function readJson(text: string): JsonReading {
  let value: unknown;
  try {
    value = JSON.parse(text, keepExact as Parameters<typeof JSON.parse>[1]);
  } catch {
    // Also nesting too deep for the stack, which is no record either.
    return { fault: 'INVALID_JSON' };
  }
  const key = repeatedKey(text);
  return key === undefined ? { value } : { fault: 'DUPLICATE_KEY', key };
}

/** Strings, with the colon that makes one a key, and what opens and closes an object. */
const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g;

/** The first key that stands twice in one object of valid JSON, in dot notation. */
function repeatedKey(text: string): string | undefined {
  const open: { readonly path: string; readonly keys: Set<string> }[] = [];
  let path = '';
  for (const [token, string, colon] of text.matchAll(tokens)) {
    if (token === '{') open.push({ path, keys: new Set() });
    else if (token === '}') path = open.pop()!.path;
    else if (colon !== undefined) {
      // Decoded, because "a" and "\u0061" are the same key.
      const key = JSON.parse(string!) as string;
      const object = open.at(-1)!;
      path = object.path === '' ? key : `${object.path}.${key}`;
      if (object.keys.has(key)) return path;
      object.keys.add(key);
    }
  }
  return undefined;
}
