/** Phone numbers in a text. Bare digits are none; it takes a +, a shape that people write, or a word. */

/** The area codes of North America: none begins with 0 or 1, ends with 11, or has a 9 in the middle. */
const areaCode = '(?:(?![234]00)[2-9](?:[02-8][0-9]|1[02-9]))';
/** An exchange begins with 2 to 9, except in the examples of area 555. */
const exchange = (separator: string) => `(?:${areaCode}${separator}[2-9][0-9]{2}|555${separator}[0-9]{3})`;
/** 500-600-7000 is a row of sizes. */
const notRound = '(?![0-9]00.[0-9]00.[0-9]{2}00)';
/** Not the beginning of a longer word or number; an extension may follow. */
const ending = '(?!(?!x|ext)[A-Za-z0-9_]|-[A-Za-z0-9]|\\.[0-9])';

const american = new RegExp(
  [
    // (555) 010-9999
    `(?<![A-Za-z0-9])(?:1[ .-]?)?\\(${areaCode}\\)[ .-]?[0-9]{3}[ .-]?[0-9]{4}${ending}`,
    // 212-555-0199 and 1-800-555-0199, also with dots; but ORD-212-555-0199 is the number of an order.
    `(?<![A-Za-z0-9_]|[A-Za-z0-9]-|[0-9]\\.)(?:1[ .-])?${notRound}${exchange('[-./ ]')}[-.][0-9]{4}${ending}`,
    // With spaces alone, and no further number beside it.
    `(?<![A-Za-z0-9_.,-]|[02-9] |[0-9]1 )${notRound}${exchange(' ')} [0-9]{4}${ending}(?! [0-9])`,
  ].join('|'),
);

/** As they are dialed at home: (020) 7946 0958, 0161 496 0000, 07700 900123, 090-1234-5678. */
const national = new RegExp(
  [
    '(?<![A-Za-z0-9_.,+-]|[0-9] )(?:',
    '\\(0[1-9][0-9]{0,3}\\) ?[0-9]{3,4}[ -]?[0-9]{3,4}|',
    '0[1-9][0-9] [0-9]{3,4} [0-9]{4}|0[1-9][0-9]{2} [0-9]{3} [0-9]{3,4}|',
    '0[1-9][0-9]{3} (?:[0-9]{5,6}|[0-9]{3} [0-9]{3})|0(?:10|[789]0)-[0-9]{4}-[0-9]{4}',
    `)${ending}(?! [0-9])`,
  ].join(''),
);

export function holdsPhoneNumber(text: string): boolean {
  return american.test(text) || national.test(text) || holdsInternational(text) || holdsNamed(text);
}

const callingCode = [
  '1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]',
  '2[1-69][0-9]|3[578][0-9]|42[0-9]|5[09][0-9]|6[7-9][0-9]|8[0578][0-9]|9[679][0-9]',
].join('|');

/** +40.6894-074.0447, +40.7128 -74.0060: degrees of latitude and longitude. */
const place = '[0-9]{1,2}\\.[0-9]{1,15}(?: {0,2}-| {1,2})[0-9]{1,3}\\.[0-9]';

/** After + or 00 a country's calling code, and up to fifteen digits in all. */
const international = new RegExp(
  [
    `((?<![A-Za-z0-9+])\\+(?!${place})|(?<![A-Za-z0-9]|[0-9][:.,/ -]|[A-Za-z][-_])00) ?`,
    `\\(?(${callingCode})((?:[ ().\\/-]{0,3}[0-9]){6,14})(?![0-9])`,
  ].join(''),
  'g',
);

function holdsInternational(text: string): boolean {
  for (const [, prefix, code = '', rest = ''] of text.matchAll(international)) {
    if (prefix === '+' ? isAfterPlus(code, rest) : isAfterZeros(rest)) return true;
  }
  return false;
}

function isAfterPlus(code: string, rest: string): boolean {
  const number = `${code}${rest}`;
  // +40.712776 is a latitude; but +33.123456789 is how registries write a phone.
  if (/^[0-9]+\.[0-9]{1,8}$/.test(number)) return false;
  const digits = number.match(/[0-9]/g)!.length;
  if (code === '1') return digits >= 11 && /^[^0-9]*[2-9]/.test(rest);
  // Few digits are a phone number only when people would not write a sum so, as +12 500 000, or a date.
  if (digits < 8 || (digits < 10 && isSum(number)) || /^[0-9]{4}-[0-9]{2}-[0-9]{2}/.test(number))
    return false;
  return digits > 8 || /[ -]/.test(number);
}

/** Whether digits stand in threes, as a sum's do. */
function isSum(digits: string): boolean {
  return /^[0-9]{1,3}(?:[ .][0-9]{3})+$/.test(digits);
}

/** 0044 20 7946 0958, but neither bare digits, as articles have them, nor pairs, as bytes stand in. */
function isAfterZeros(rest: string): boolean {
  return /^(?:[ -]\(?[1-9]|[ -]?\(0\))/.test(rest) && /[0-9]{3}/.test(rest);
}

/** Seven to fifteen digits after a word that says what they are. */
const named = new RegExp(
  [
    '(?<![a-z])(?:(?:(?:tele|cell)?phone|tel|fax)(?: (?:number|no|nr))?[ .:=#]{1,3}',
    '|(?:mobile|cell|whatsapp)(?: (?:number|phone|no|nr)){0,2} ?[:=#] ?)',
    `(\\(?[0-9](?:[ ().\\/-]{0,2}[0-9]){6,14})${ending}(?!,[0-9])`,
  ].join(''),
  'gi',
);

function holdsNamed(text: string): boolean {
  for (const [, digits = ''] of text.matchAll(named)) {
    const isDate = /^(?:19|20)[0-9]{2}[-./ ]?[01][0-9][-./ ]?[0-3][0-9]/.test(digits);
    if (!isDate && !isSum(digits) && !/^[0-9]+\.[0-9]+$/.test(digits)) return true;
  }
  return false;
}
