/** Texts: rules for every string that a client sends or an operator imports, and how texts are shown. */
import { keyPattern, keyPrefixPattern } from '@partner-network/contract/environments';
import type { FieldSchema } from '@partner-network/contract/records';

const controlCharacter = /[\u0000-\u001f\u007f]/;

/** No control characters (U+0000 to U+001F, U+007F) and no unpaired surrogates. */
export function isCleanText(text: string): boolean {
  return !controlCharacter.test(text) && text.isWellFormed();
}

/** Whether a text is longer than this number of code points. Counts them only if its length leaves doubt. */
export function isLongerThan(text: string, codePoints: number): boolean {
  return text.length > codePoints * 2 || (text.length > codePoints && [...text].length > codePoints);
}

/** Whether no address can name this id: programs remove `.` and `..` from paths. */
export function isDots(id: unknown): boolean {
  return id === '.' || id === '..';
}

/** The code of the first rule that a text breaks: the rules for every string, then those of its schema. */
export function brokenRule(text: string, { maxLength, enum: words }: Partial<FieldSchema>) {
  if (!isCleanText(text)) return 'INVALID_CHARACTER';
  if (text === '') return 'VALUE_EMPTY';
  if (maxLength !== undefined && isLongerThan(text, maxLength)) return 'VALUE_TOO_LONG';
  return words?.includes(text) === false ? 'INVALID_ENUM_VALUE' : undefined;
}

const plainInteger = /^(?:0|-?[1-9][0-9]*)$/;

/** An optional minus and digits: no plus, fraction, exponent, leading zero or -0. */
export function isPlainInteger(text: string): boolean {
  return plainInteger.test(text);
}

/** http or https with a host, without white space, user and password. */
export function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s/?#]\S*$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

/** Whether an address is http on a loopback host, where browsers may not keep a cookie that is Secure. */
export function isLocal(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'http:' && /^(?:127\.[\d.]+|\[::1\]|(?:.*\.)?localhost)$/.test(url.hostname);
}

/** Whether nobody on the network can read what is sent to an address: it has TLS, or is local. */
export function isSecure(address: string): boolean {
  return address.startsWith('https:') || isLocal(address);
}

const keyAnywhere = new RegExp(keyPattern);

/** Whether a text contains an API key, or something of the same form. */
export function holdsKey(text: string): boolean {
  return keyAnywhere.test(text);
}

/** Not the prefix alone: our own messages name it. */
const keyLike = new RegExp(`${keyPrefixPattern}[0-9A-Za-z]+`, 'g');
const longRun = /[0-9A-Za-z]{32,}/g;

/** Masks API keys, and possible parts of keys: 32 or more digits and letters of both cases. */
export function maskKeys(text: string): string {
  return text
    .replace(keyLike, '[key]')
    .replace(longRun, (run) => (/[0-9]/.test(run) && /[A-Z]/.test(run) && /[a-z]/.test(run) ? '[key]' : run));
}

/** A password in an address, which may have lost a slash as a file name. Our texts have `PASSWORD` itself. */
const password = /(?<=:\/{1,2}[^\s/:@]*:)(?!PASSWORD@)[^\s"]{1,1000}(?=@)/g;

/** Masks API keys, and passwords in addresses: somebody may paste them in a wrong place. */
export function maskSecrets(text: string): string {
  return maskKeys(text.replace(password, '[password]'));
}

/** Control characters except the line feed, invisible characters, text direction marks, lone surrogates. */
const unprintable =
  /[\0-\t\v-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Surrogate}/gu;

/** A text that is safe to print on a terminal. */
export function printable(text: string): string {
  return text.replace(unprintable, '\ufffd');
}

/** The text of a value in an answer: a string unchanged, anything else as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}

/** JSON with the same meaning that is safe to print on a terminal. */
export function escapeUnprintable(json: string): string {
  return json.replace(unprintable, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** A text for an element or an attribute of HTML or XML. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character]!);
}

/** A text that is safe to print on a terminal, on one line. */
export function oneLine(text: string): string {
  return printable(text).replaceAll('\n', '\ufffd');
}

/** A name from outside, safe to repeat in an answer or a report: keys masked, printable, cut to length. */
export function echo(name: string, characters: number): string {
  const safe = maskKeys(oneLine(name));
  return [...safe.slice(0, characters * 2)].slice(0, characters).join('');
}

/** `customer` is 4 edits from `cursor`, which is another word. */
const mostEdits = 3;

/** The closest candidate for "did you mean", if at least half of what was typed is right, or begins it. */
export function suggest(name: string, candidates: readonly string[]): string | undefined {
  const typed = name.toLowerCase();
  const most = Math.min(mostEdits, typed.length / 2);
  const measured = candidates
    // A request may have thousands of names: those of another length are not measured.
    .filter((candidate) => Math.abs(candidate.length - typed.length) <= most)
    .map((candidate) => ({ candidate, distance: editDistance(typed, candidate) }));
  const [best] = measured.toSorted((left, right) => left.distance - right.distance);
  if (best !== undefined && best.distance <= most) return best.candidate;
  return typed.length < 3 ? undefined : candidates.find((candidate) => candidate.startsWith(typed));
}

/** The Levenshtein distance, one row at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const substituted = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}

/** A host with its port, as a URL has them: an IPv6 address stands in brackets. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export function originOf(host: string, port: number): string {
  return `http://${hostAndPort(host, port)}`;
}

/** A number and its noun: "1 key", "1200 keys". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
