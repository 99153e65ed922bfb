/** Finds phone numbers: digits after a +, in a usual format, or after a word such as "phone". */

/** North American area codes do not start with 0 or 1, end in 11, or have a 9 in the middle. */
const areaCode = '(?:(?![234]00)[2-9](?:[02-8][0-9]|1[02-9]))';
/** An exchange starts with 2 to 9, except in examples with area 555. */
const exchange = (separator: string) => `(?:${areaCode}${separator}[2-9][0-9]{2}|555${separator}[0-9]{3})`;
/** 500-600-7000 is a list of sizes. */
const notRound = '(?![0-9]00.[0-9]00.[0-9]{2}00)';
/** Not the beginning of a longer word or number; an extension may follow. */
const ending = '(?!(?!x|ext)[A-Za-z0-9_]|-[A-Za-z0-9]|\\.[0-9])';

const american = new RegExp(
  [
    // (555) 010-9999
    `(?<![A-Za-z0-9])(?:1[ .-]?)?\\(${areaCode}\\)[ .-]?[0-9]{3}[ .-]?[0-9]{4}${ending}`,
    // 212-555-0199 and 1-800-555-0199, also with dots; ORD-212-555-0199 is an order number.
    `(?<![A-Za-z0-9_]|[A-Za-z0-9]-|[0-9]\\.)(?:1[ .-])?${notRound}${exchange('[-./ ]')}[-.][0-9]{4}${ending}`,
    // With spaces only, and without another number next to it.
    `(?<![A-Za-z0-9_.,-]|[02-9] |[0-9]1 )${notRound}${exchange(' ')} [0-9]{4}${ending}(?! [0-9])`,
  ].join('|'),
);

/** National formats: (020) 7946 0958, 0161 496 0000, 07700 900123, 090-1234-5678. */
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

/** Latitude and longitude: +40.6894-074.0447, +40.7128 -74.0060. */
const place = '[0-9]{1,2}\\.[0-9]{1,15}(?: {0,2}-| {1,2})[0-9]{1,3}\\.[0-9]';

/** + or 00, a country's calling code, and at most 15 digits in all. */
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
  // +40.712776 is a latitude; domain registries write a phone number as +33.123456789.
  if (/^[0-9]+\.[0-9]{1,8}$/.test(number)) return false;
  const digits = number.match(/[0-9]/g)!.length;
  if (code === '1') return digits >= 11 && /^[^0-9]*[2-9]/.test(rest);
  // With few digits, exclude sums such as +12 500 000, and dates.
  if (digits < 8 || (digits < 10 && isSum(number)) || /^[0-9]{4}-[0-9]{2}-[0-9]{2}/.test(number))
    return false;
  return digits > 8 || /[ -]/.test(number);
}

/** Whether digits are in groups of three, like a sum of money. */
function isSum(digits: string): boolean {
  return /^[0-9]{1,3}(?:[ .][0-9]{3})+$/.test(digits);
}

/** 0044 20 7946 0958, but not bare digits (article numbers) and not pairs of digits (bytes). */
function isAfterZeros(rest: string): boolean {
  return /^(?:[ -]\(?[1-9]|[ -]?\(0\))/.test(rest) && /[0-9]{3}/.test(rest);
}

/** 7 to 15 digits after a word such as "phone" or "mobile". */
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
