/** Options of a command line: how flags and environment variables are read into values. */
import { overlapSeconds } from '@partner-network/contract/limits';
import { holdsKey, isCleanText, isLongerThan, isWebAddress, suggest } from '../text.ts';
import { normalizeTime, parseDuration, toTime } from '../times.ts';

/** What is wrong with a value, as the end of a sentence that begins with its flag or variable. */
export class Problem {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

/** Reads one text into a value. `values` are all valid texts, if they are few. */
export type Reader<T> = ((text: string) => T | Problem) & { readonly values?: readonly string[] };

/** Makes a value of all texts that were given; `flags` are the names of all flags on the command line. */
type Resolve<T> = (texts: readonly string[], flags: ReadonlySet<string>) => T | Problem;

export interface Option<T> {
  /** The name of the value in the help text; a flag without a value has none. */
  readonly valueName?: string;
  readonly help: string;
  /** All valid texts, if they are few. */
  readonly values?: readonly string[] | undefined;
  /** The environment variable that sets the option if the flag is absent. */
  readonly variable?: string;
  /** Set only by its variable: every user of a machine can read the flags of a running command. */
  readonly isSecret?: boolean;
  /** An empty variable counts as not set. Otherwise it is an error. */
  readonly mayBeEmpty?: boolean;
  /** The value may also be in a file, which the variable with `_FILE` at its end names. */
  readonly hasFile?: boolean;
  readonly isRequired?: boolean;
  readonly isRepeatable?: boolean;
  /** The value that applies if none is given, as a reader sees it. */
  readonly default?: string | undefined;
  /** The version that added the option; absent for the options of the first version. */
  readonly since?: string;
  readonly resolve: Resolve<T>;
}

// biome-ignore lint/suspicious/noExplicitAny: a table of options holds options of every kind of value.
export type Options = Readonly<Record<string, Option<any>>>;

export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never;
};

/** The variable that names a file with the value of another variable. */
export function fileVariable(variable: string): string {
  return `${variable}_FILE`;
}

/** The options of a command that a version added. */
export function addedIn<O extends Options>(since: string, options: O): O {
  const marked = Object.entries(options).map(([name, option]) => [name, { ...option, since }]);
  return Object.fromEntries(marked) as O;
}

/** A flag without a value: true if it is present. */
export function flag(help: string): Option<boolean> {
  return { help, resolve: (texts) => texts.length > 0 };
}

export function optional<T>(valueName: string, read: Reader<T>, help: string): Option<T | undefined> {
  return defaulted(valueName, read, undefined, help);
}

/** An optional flag with a default. */
export function defaulted<T, D extends T | undefined>(
  valueName: string,
  read: Reader<T>,
  fallback: D,
  help: string,
): Option<T | D> {
  const shown = fallback === undefined ? undefined : String(fallback);
  return { valueName, help, default: shown, ...single(read, () => fallback) };
}

const missing = new Problem('is required.');

export function required<T>(valueName: string, read: Reader<T>, help: string): Option<T> {
  return { valueName, help, isRequired: true, ...single<T, never>(read, () => missing) };
}

/** A flag that may be given several times. Without `fallback` it is required. */
export function repeated<T>(
  valueName: string,
  read: Reader<T>,
  help: string,
  fallback?: readonly T[],
): Option<readonly T[]> {
  const resolve = (texts: readonly string[]) =>
    texts.length === 0 ? (fallback ?? missing) : readAll(texts, read);
  const isRequired = fallback === undefined;
  return { valueName, help, values: read.values, isRequired, isRepeatable: true, resolve };
}

/** An option that a flag or a variable sets. Without `help`, the caller adds it as a property. */
export function setting<T, D extends T | undefined>(
  valueName: string,
  variable: string,
  read: Reader<T>,
  fallback: D,
  help = '',
): Option<T | D> {
  return { ...defaulted(valueName, read, fallback, help), variable };
}

/** An option without a flag, such as a secret. With `needed`, it is required if `unless` is absent. */
export function variableOnly<T>(
  variable: string,
  read: Reader<T>,
  help: string,
  needed?: { readonly unless?: string; readonly missing: string },
): Option<T | undefined> {
  const whenAbsent = (flags: ReadonlySet<string>) =>
    needed === undefined || flags.has(needed.unless ?? '') ? undefined : new Problem(needed.missing);
  return { valueName: 'VALUE', variable, isSecret: true, help, ...single(read, whenAbsent) };
}

/** A setting whose flag may be repeated, and whose variable holds a list with commas. */
export function repeatedSetting<T>(
  valueName: string,
  variable: string,
  read: Reader<T>,
  most: number,
): Option<readonly T[]> {
  const resolve: Resolve<readonly T[]> = (lists) => {
    const texts = lists.flatMap((text) => text.split(','));
    return texts.length > most ? new Problem(`may be given at most ${most} times.`) : readAll(texts, read);
  };
  return { valueName, variable, help: '', isRepeatable: true, resolve };
}

/** Resolves an option that may be given once. */
function single<T, D>(
  read: Reader<T>,
  whenAbsent: (flags: ReadonlySet<string>) => D | Problem,
): Pick<Option<T | D>, 'resolve' | 'values'> {
  const resolve: Resolve<T | D> = ([text, another], flags) => {
    if (text === undefined) return whenAbsent(flags);
    return another === undefined ? read(text) : new Problem('is given twice: give it once.');
  };
  return { resolve, values: read.values };
}

function readAll<T>(texts: readonly string[], read: Reader<T>): readonly T[] | Problem {
  const values = texts.map(read);
  return values.find((value) => value instanceof Problem) ?? (values as T[]);
}

export function oneOf<const T extends string>(values: readonly T[]): Reader<T> {
  const read = (text: string) => {
    const meant = suggest(text, values);
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
    return (
      values.find((value) => value === text) ?? new Problem(`must be one of ${values.join(', ')}.${hint}`)
    );
  };
  return Object.assign(read, { values });
}

export function wholeNumber(min: number, max: number): Reader<number> {
  return (text) => {
    const isInRange = /^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max;
    return isInRange ? Number(text) : new Problem(`must be a whole number from ${min} to ${max}.`);
  };
}

export function plainText(maxCodePoints: number): Reader<string> {
  return (text) => {
    // These texts are stored and shown, which a key must never be.
    if (holdsKey(text)) return new Problem('must not contain an API key.');
    return text !== '' && isCleanText(text) && !isLongerThan(text, maxCodePoints)
      ? text
      : new Problem(`must have 1 to ${maxCodePoints} characters and no control characters.`);
  };
}

export function durationMs(text: string): number | Problem {
  const ms = parseDuration(text);
  return ms !== undefined && ms <= overlapSeconds.max * 1_000
    ? ms
    : new Problem('must be a number and a unit (s, m, h or d), such as 24h, and at most 3650d.');
}

/** A point in time, given as a time or as an age. */
export function timeOrAge(text: string): string | Problem {
  const ageMs = durationMs(text);
  if (!(ageMs instanceof Problem)) return toTime(Date.now() - ageMs);
  return (
    normalizeTime(text) ??
    new Problem('must be a time, such as 2027-01-31T00:00:00Z, or an age, such as 24h.')
  );
}

/** An http or https URL without a trailing slash. Braces are variables in OpenAPI and patterns in curl. */
export function httpUrl(text: string): string | Problem {
  if (holdsKey(text)) return new Problem('must not contain an API key.');
  return isWebAddress(text) && !/[?#{}]/.test(text)
    ? new URL(text).href.replace(/\/+$/, '')
    : new Problem('must begin with http:// or https://, with no user, password, query, fragment or braces.');
}

/** Scheme, host and port only: the service adds its own paths. */
export function originUrl(text: string): string | Problem {
  const url = httpUrl(text);
  if (holdsKey(text) || (!(url instanceof Problem) && new URL(url).pathname === '/')) return url;
  return new Problem(
    'must be an origin, such as https://network.example, with no path, query, fragment, user or password.',
  );
}
