/**
 * A plain, slow JSON parser that follows the grammar character by character. Keeps numbers as they were
 * written, and finds repeated keys.
 */

/** A number that is no exact plain integer, as it was written. */
interface OtherNumber {
  readonly digits: string;
}

interface JsonDocument {
  readonly value: unknown;
  readonly hasRepeatedKey: boolean;
}

export function isOtherNumber(value: unknown): value is OtherNumber {
  return typeof value === 'object' && value !== null && 'digits' in value && isNumber.has(value);
}

/** A symbol, so that no field of a record has this name. */
const isNumber = new WeakSet<object>();

/** Returns undefined if the text is no JSON. */
export function parseByGrammar(text: string): JsonDocument | undefined {
  const reader = new Reader(text);
  try {
    const value = reader.value();
    reader.space();
    return reader.isAtEnd() ? { value, hasRepeatedKey: reader.hasRepeatedKey } : undefined;
  } catch (error) {
    if (error === noJson) return undefined;
    throw error;
  }
}

const noJson = new Error('no JSON');
const escapes: Readonly<Record<string, string>> = {
  ...{ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' },
};

class Reader {
  hasRepeatedKey = false;
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  space(): void {
    this.#take(/[ \t\r\n]*/y);
  }

  value(): unknown {
    this.space();
    if (this.#has('{')) return this.#object();
    if (this.#has('[')) return this.#list();
    if (this.#has('"')) return this.#string();
    for (const [word, value] of [
      ['true', true],
      ['false', false],
      ['null', null],
    ] as const)
      if (this.#has(word)) return value;
    return this.#number();
  }

  #object(): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    this.space();
    if (this.#has('}')) return {};
    do {
      this.space();
      this.#need('"');
      const key = this.#string();
      this.space();
      this.#need(':');
      if (entries.has(key)) this.hasRepeatedKey = true;
      entries.set(key, this.value());
      this.space();
    } while (this.#has(','));
    this.#need('}');
    return Object.fromEntries(entries);
  }

  #list(): unknown[] {
    const values: unknown[] = [];
    this.space();
    if (this.#has(']')) return values;
    do {
      values.push(this.value());
      this.space();
    } while (this.#has(','));
    this.#need(']');
    return values;
  }

  #string(): string {
    let text = '';
    while (!this.#has('"')) {
      if (this.#has('\\')) {
        const hex = this.#take(/u[0-9A-Fa-f]{4}/y);
        const letter = hex === undefined ? this.#take(/["\\/bfnrt]/y) : undefined;
        if (hex === undefined && letter === undefined) throw noJson;
        text += hex === undefined ? escapes[letter!] : String.fromCharCode(Number.parseInt(hex.slice(1), 16));
      } else {
        const character = this.#take(/[^\u0000-\u001f"\\]/y);
        if (character === undefined) throw noJson;
        text += character;
      }
    }
    return text;
  }

  #number(): number | OtherNumber {
    const digits = this.#take(/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y);
    if (digits === undefined) throw noJson;
    if (/^-?[0-9]+$/.test(digits) && digits !== '-0') {
      const exact = BigInt(digits);
      if (exact <= 9_007_199_254_740_991n && exact >= -9_007_199_254_740_991n) return Number(exact);
    }
    const other = { digits };
    isNumber.add(other);
    return other;
  }

  #has(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #need(word: string): void {
    if (!this.#has(word)) throw noJson;
  }

  /** The match of a sticky pattern at this position. */
  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}
