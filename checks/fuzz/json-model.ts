/** What JSON.parse says about a text, with the digits of its numbers, and whether a key is repeated. */

/** A number that is not an exact plain integer, as it was written. */
class OtherNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

export function isOtherNumber(value: unknown): value is OtherNumber {
  return value instanceof OtherNumber;
}

/** Returns undefined if the text is not JSON. */
export function parseWhole(text: string) {
  let value: unknown;
  try {
    value = JSON.parse(text, withDigits as Parameters<typeof JSON.parse>[1]);
  } catch {
    return undefined;
  }
  // JSON.parse keeps the last value of a repeated key, so fewer keys are left than were written.
  const strings = [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)];
  const written = strings.filter(([, colon]) => colon !== undefined).length;
  return { value, hasRepeatedKey: keysIn(value) < written };
}

function withDigits(_key: string, value: unknown, { source = '' }: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const isExact = /^(?:0|-?[1-9][0-9]*)$/.test(source) && String(BigInt(source)) === String(value);
  return isExact && Number.isSafeInteger(value) ? value : new OtherNumber(source);
}

function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null || isOtherNumber(value)) return 0;
  const inner = Object.values(value).reduce((sum: number, own) => sum + keysIn(own), 0);
  return Array.isArray(value) ? inner : inner + Object.keys(value).length;
}
