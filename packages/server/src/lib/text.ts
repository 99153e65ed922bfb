/** The rules that every string obeys, whether a caller sends it or an operator imports it. */

const controlCharacter = /[\u0000-\u001f\u007f]/;

/** No control characters (U+0000 to U+001F, U+007F) and no unpaired surrogates. */
export function isCleanText(text: string): boolean {
  return !controlCharacter.test(text) && text.isWellFormed();
}

/** Whether a text is longer than so many Unicode code points; counts them only when it must. */
export function isLongerThan(text: string, codePoints: number): boolean {
  if (text.length <= codePoints) return false;
  if (text.length > codePoints * 2) return true;
  let count = 0;
  for (const _ of text) count += 1;
  return count > codePoints;
}

const plainInteger = /^(?:0|-?[1-9][0-9]*)$/;

/** Plain digits: no sign but a minus, no fraction, exponent, leading zero or -0. */
export function isPlainInteger(text: string): boolean {
  return plainInteger.test(text);
}

/** http or https with a host, without white space, user and password. */
export function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s/?#]\S*$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

const keyAnywhere = /pn_(?:live|test)_[0-9A-Za-z]{49}/;

/** Whether a text has a key in it, or something that cannot be told from one. */
export function holdsKey(text: string): boolean {
  return keyAnywhere.test(text);
}

const keyLike = /pn_(?:live|test)_[0-9A-Za-z]*/g;
const longRun = /[0-9A-Za-z]{32,}/g;

/** A text without anything that is, or may be the better part of, an API key. */
export function maskKeys(text: string): string {
  return text
    .replace(keyLike, '[key]')
    .replace(longRun, (run) => (/[0-9]/.test(run) && /[A-Z]/.test(run) && /[a-z]/.test(run) ? '[key]' : run));
}

/** Control characters but for the line end, what turns the direction of text or is not seen, half pairs. */
const unprintable =
  /[\0-\t\v-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Surrogate}/gu;

/** A text that cannot do anything to a terminal but be read. */
export function printable(text: string): string {
  return text.replace(unprintable, '\ufffd');
}

/** What a server sent where a text belongs, whatever it is. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}

/** JSON that means the same and cannot do anything to a terminal, either. */
export function escapeUnprintable(json: string): string {
  return json.replace(unprintable, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A text that cannot do anything to a terminal, on one line. */
export function oneLine(text: string): string {
  return printable(text).replaceAll('\n', '\ufffd');
}

/**
 * A name that came from outside, fit to be repeated in an answer or a report: without anything that looks
 * like an API key, without what does not print, and cut to so many characters.
 */
export function echo(name: string, characters: number): string {
  const safe = maskKeys(oneLine(name));
  return [...safe.slice(0, characters * 2)].slice(0, characters).join('');
}
