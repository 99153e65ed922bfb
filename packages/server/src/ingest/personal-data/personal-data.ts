/**
 * What looks like personal data: an e-mail address, a phone number, a payment card number with a valid check
 * digit, a US social security number. A false alarm stops an operator's import, so a number alone is never
 * enough: it takes a shape, a prefix, a check digit or a word beside it.
 */
import { holdsCardNumber } from './cards.ts';
import { holdsMailAddress } from './mail.ts';
import { holdsPhoneNumber } from './phones.ts';
import { holdsSocialSecurityNumber } from './social-security.ts';

/** What an import does about personal data. */
export const personalDataPolicies = ['allow', 'warn', 'reject'] as const;
export type PersonalDataPolicy = (typeof personalDataPolicies)[number];

/** The fewest digits of a phone number; the others have more. */
const fewestDigits = 7;

/** The kind of personal data that a text seems to hold, in words that fit into a sentence. */
export function findPersonalData(text: string): string | undefined {
  if (isInnocentAtAGlance(text)) return undefined;
  const plain = plainOf(text);
  if (holdsMailAddress(plain)) return 'an e-mail address';
  if (isInnocentAtAGlance(plain)) return undefined;
  if (holdsCardNumber(plain)) return 'a payment card number';
  if (holdsSocialSecurityNumber(plain)) return 'a US social security number';
  return holdsPhoneNumber(plain) ? 'a phone number' : undefined;
}

/** The same of a key, which can have digits after a word that says what they are: phone_5550109999. */
export function findPersonalKey(key: string): string | undefined {
  const found = findPersonalData(key);
  if (found !== undefined || !tellingKey.test(key) || isInnocentAtAGlance(key)) return found;
  return findPersonalData(wordsOf(key).replace(/([a-z]) ?(?=[0-9])/gi, '$1: '));
}

/** The same of a value under a key, which can say what its digits are: {"phone":"5550109999"}. */
export function findPersonalValue(key: string, value: string): string | undefined {
  const found = findPersonalData(value);
  if (found !== undefined || !tellingKey.test(key) || isInnocentAtAGlance(value)) return found;
  // phone2, phone_1 and phones say the same as phone does.
  const what = wordsOf(key)
    .replace(/ ?[0-9]{1,2}$/, '')
    .replace(/(?<=phone|mobile|fax|ssn|number)s$/i, '');
  return findPersonalData(`${what}: ${value}`);
}

const tellingKey = /phone|mobile|cell|tel|fax|whatsapp|ssn|social/i;

/** The words of a key, however they are joined: phone_number, phone-number, phoneNumber, SSNNumber. */
function wordsOf(key: string): string {
  return key.replace(/([a-z])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3 $2').replaceAll(/[_-]/g, ' ');
}

/**
 * Most texts are: plain ASCII without an @, an escape of one, and as many digits as it takes with nothing but
 * spaces and ()*+,-./ between. What the patterns take apart in 4 us, this passes in a tenth.
 */
function isInnocentAtAGlance(text: string): boolean {
  let digits = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code >= 0x30 && code <= 0x39) {
      digits += 1;
      if (digits === fewestDigits) return false;
    } else if (code === atSign || code === percentSign || code < space || code > tilde) return false;
    else if (code !== space && (code < openingParenthesis || code > slash)) digits = 0;
  }
  return true;
}

const space = 0x20;
const percentSign = 0x25;
const openingParenthesis = 0x28;
const slash = 0x2f;
const atSign = 0x40;
const tilde = 0x7e;

const beyondAscii = /[^\u0020-\u007e]/;
/** What cannot be seen, such as a zero-width space, and the frame of a keycap. */
const unseen = /\p{Default_Ignorable_Code_Point}|\p{Cc}|\u20e3/gu;

/** A text as the eye reads it: full-width and other digits, dashes and spaces become those of ASCII. */
function plainOf(text: string): string {
  const unescaped = text.includes('%') ? text.replaceAll(/%40/g, '@').replaceAll(/%2b/gi, '+') : text;
  if (!beyondAscii.test(unescaped)) return unescaped;
  return unescaped
    .normalize('NFKC')
    .replace(unseen, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .replace(/\p{Z}/gu, ' ')
    .replace(/(?![0-9])\p{Nd}/gu, asciiDigit);
}

const digitsOfScripts = new Map<string, string>();

/** Digits of every script stand in a row from zero to nine. */
function asciiDigit(digit: string): string {
  const known = digitsOfScripts.get(digit);
  if (known !== undefined) return known;
  const code = digit.codePointAt(0)!;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  digitsOfScripts.set(digit, String(value));
  return String(value);
}
