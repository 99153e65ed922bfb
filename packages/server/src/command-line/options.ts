/** What a flag may hold. An option reads texts into a value, or says in a sentence what is wrong. */

import { authBounds } from '../bounds/auth.ts';
import { holdsKey, isCleanText, isLongerThan, isWebAddress } from '../lib/text.ts';
import { normalizeTime, parseDuration, toTime } from '../lib/times.ts';

export class Problem {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

type Reader<T> = (text: string) => T | Problem;

export interface Option<T> {
  /** How its value is called in the help; a flag that is there or not has none. */
  readonly valueName?: string;
  readonly help: string;
  /** The environment variable that stands in for the flag. */
  readonly variable?: string;
  /** Given by its variable alone: everybody on a machine can read the flags of a command. */
  readonly isSecret?: boolean;
  /**
   * From all the texts that were given, to a value. `origin` is how the person gave it, `flags` which other
   * ones there are.
   */
  resolve(texts: readonly string[], origin: string, flags: ReadonlySet<string>): T | Problem;
}

// biome-ignore lint/suspicious/noExplicitAny: a table of options holds options of every kind of value.
export type Options = Readonly<Record<string, Option<any>>>;

export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never;
};

export function flag(help: string): Option<boolean> {
  return { help, resolve: (texts) => texts.length > 0 };
}

export function optional<T>(valueName: string, read: Reader<T>, help: string): Option<T | undefined> {
  return { valueName, help, resolve: (texts, origin) => resolveOne(texts, origin, read) };
}

export function required<T>(valueName: string, read: Reader<T>, help: string): Option<T> {
  return {
    valueName,
    help: `${help} (required)`,
    resolve: (texts, origin) => resolveOne(texts, origin, read) ?? new Problem(`${origin} is required.`),
  };
}

export function repeated<T>(valueName: string, read: Reader<T>, help: string): Option<T[]> {
  return {
    valueName,
    help: `${help} (required, repeatable)`,
    resolve: (texts, origin) => {
      if (texts.length === 0) return new Problem(`${origin} is required.`);
      const values = texts.map((text) => readAs(text, origin, read));
      return values.find((value) => value instanceof Problem) ?? (values as T[]);
    },
  };
}

/** An option that an environment variable can set, too. */
export function setting<T, D extends T | undefined>(
  valueName: string,
  variable: string,
  read: Reader<T>,
  fallback: D,
  help: string,
): Option<T | D> {
  return {
    valueName,
    variable,
    help,
    resolve: (texts, origin) => resolveOne(texts, origin, read) ?? fallback,
  };
}

/** What no flag may hold, and is needed unless there is another flag; `missing` says what to do. */
export function secret<T>(
  variable: string,
  read: Reader<T>,
  unless: string,
  missing: string,
  help: string,
): Option<T | undefined> {
  return {
    valueName: 'SECRET',
    variable,
    isSecret: true,
    help,
    resolve: (texts, origin, flags) =>
      resolveOne(texts, origin, read) ??
      (flags.has(unless) ? undefined : new Problem(`${origin} ${missing}`)),
  };
}

/** What has its name from others, who have a variable for it and no flag; an address may hold a secret. */
export function variableOnly<T>(variable: string, read: Reader<T>, help: string): Option<T | undefined> {
  return {
    valueName: 'VALUE',
    variable,
    isSecret: true,
    help,
    resolve: (texts, origin) => resolveOne(texts, origin, read),
  };
}

/** One that can be given several times, or in a variable with commas between. */
export function repeatedSetting<T>(
  valueName: string,
  variable: string,
  read: Reader<T>,
  most: number,
  help: string,
): Option<readonly T[]> {
  return {
    valueName,
    variable,
    help: `${help} (repeatable)`,
    resolve: (texts, origin) => {
      const values = texts.flatMap((text) => text.split(',')).map((text) => readAs(text, origin, read));
      if (values.length > most) return new Problem(`${origin} is given more than ${most} times.`);
      return values.find((value) => value instanceof Problem) ?? (values as T[]);
    },
  };
}

function resolveOne<T>(texts: readonly string[], origin: string, read: Reader<T>): T | Problem | undefined {
  if (texts.length > 1) return new Problem(`${origin} is given twice.`);
  return texts.length === 0 ? undefined : readAs(texts[0]!, origin, read);
}

function readAs<T>(text: string, origin: string, read: Reader<T>): T | Problem {
  const value = read(text);
  return value instanceof Problem ? new Problem(`${origin} ${value.sentence}`) : value;
}

export function oneOf<const T extends string>(allowed: readonly T[]): Reader<T> {
  return (text) =>
    allowed.find((value) => value === text) ?? new Problem(`must be one of ${allowed.join(', ')}.`);
}

export function wholeNumber(min: number, max: number): Reader<number> {
  return (text) => {
    const isInRange = /^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max;
    return isInRange ? Number(text) : new Problem(`must be a whole number from ${min} to ${max}.`);
  };
}

export function plainText(maxCodePoints: number): Reader<string> {
  return (text) => {
    // It would be stored and shown, as no key may be.
    if (holdsKey(text)) return new Problem('must not hold an API key.');
    return text !== '' && isCleanText(text) && !isLongerThan(text, maxCodePoints)
      ? text
      : new Problem(`must be 1 to ${maxCodePoints} characters, none of them a control character.`);
  };
}

export function time(text: string): string | Problem {
  return (
    normalizeTime(text) ??
    new Problem('must be a time in UTC in the format of RFC 3339, such as 2027-01-31T00:00:00Z.')
  );
}

/** When a key or a grant expires. */
export const expiresAt = optional(
  'TIME',
  time,
  'when it expires, such as 2027-01-31T00:00:00Z; never when left out',
);

export function durationMs(text: string): number | Problem {
  const ms = parseDuration(text);
  return ms !== undefined && ms <= authBounds.longestOverlapMs
    ? ms
    : new Problem('must be a number and a unit (s, m, h or d), such as 24h, and at most 3650d.');
}

/** A time, or how long ago it was. */
export function timeOrAge(text: string): string | Problem {
  const ageMs = durationMs(text);
  if (!(ageMs instanceof Problem)) return toTime(Date.now() - ageMs);
  return (
    normalizeTime(text) ??
    new Problem('must be a time such as 2027-01-31T00:00:00Z, or how long ago that was, such as 24h.')
  );
}

/**
 * An address that others reach us by: http or https, without a trailing slash. What a URL cannot hold, such
 * as a quote, is percent-encoded. Braces mean something else in addresses of OpenAPI and of curl.
 */
export function httpUrl(text: string): string | Problem {
  if (holdsKey(text)) return new Problem('must not hold an API key.');
  return isWebAddress(text) && !/[?#{}]/.test(text)
    ? new URL(text).href.replace(/\/+$/, '')
    : new Problem('must be an http or https address without user, query, fragment or braces.');
}
