/** Finds payment card numbers, phone numbers and US social security numbers. */

const gap = '(?: {1,2}|-)';

/** 13 to 19 digits, bare or in the groups in which cards are printed. */
const candidates = new RegExp(
  [
    // Not the end of a longer word or number, of a fraction, or of an IBAN in groups of four.
    '(?:(?<=[Cc]ard|CARD|[Vv]isa|VISA|[Aa]mex|AMEX)|',
    '(?<![A-Za-z0-9]|[0-9][.-]|[0-9]{4} {1,2}|[A-Z]{2}[0-9]{2}(?: [A-Z0-9]{4}){0,7} ))',
    '([2-6][0-9]{12,18}',
    `|[2-6][0-9]{3}${gap}?[0-9]{4}${gap}?[0-9]{4}${gap}?[0-9]{1,4}(?:${gap}[0-9]{1,3})?`,
    `|[2-6][0-9]{3}(?:\\.[0-9]{4}){3}|3[0-9]{3}(?:${gap}[0-9]{6}${gap}|\\.[0-9]{6}\\.)[0-9]{4,5})`,
    // Not the beginning of a longer number, or of a UUID, whose first groups can be all digits.
    '(?![A-Za-z0-9]|[.-][0-9]| {1,2}[0-9]{4}(?![0-9])|-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})',
  ].join(''),
  'g',
);

/** Finds payment card numbers: an issuer's prefix and length, and a valid check digit. */
export function holdsCardNumber(text: string): boolean {
  return text.matchAll(candidates).some(([, candidate = '']) => {
    // Up to three digits after the card may be its security code.
    const withoutCode = candidate.replace(/[ -]+[0-9]{1,3}$/, '');
    return !isArticleNumber(candidate) && [candidate, withoutCode].some(isCardNumber);
  });
}

/** The prefixes and lengths of each issuer. */
const issuers: readonly [name: string, prefix: RegExp, lengths: readonly number[]][] = [
  ['Visa', /^4/, [13, 16, 19]],
  ['Mastercard', /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  ['American Express', /^3[47]/, [15]],
  ['Diners Club', /^(?:36|38|39|30[0-5]|3095)/, [14, 16]],
  ['JCB', /^35(?:2[89]|[3-8])/, [16, 19]],
  ['Discover', /^(?:6011|64[4-9]|65)/, [16, 19]],
  ['UnionPay', /^62/, [16, 17, 18, 19]],
  ['Maestro', /^(?:5018|5019|5020|5038|5893|6304|6759|676[1-3])/, [16, 18, 19]],
];

function isCardNumber(candidate: string): boolean {
  const digits = candidate.replaceAll(/[ .-]/g, '');
  const isIssued = issuers.some(
    ([, prefix, lengths]) => lengths.includes(digits.length) && prefix.test(digits),
  );
  return isIssued && hasCheckDigit(digits, (digit) => (digit > 4 ? digit * 2 - 9 : digit * 2));
}

/** EAN-13 and GTIN-14. German article numbers start with 4 like Visa; one in ten would pass as a card. */
function isArticleNumber(candidate: string): boolean {
  return /^[0-9]{13,14}$/.test(candidate) && hasCheckDigit(candidate, (digit) => digit * 3);
}

/** Whether the sum of the digits is a multiple of 10. Every second digit from the right is weighed. */
function hasCheckDigit(digits: string, weigh: (digit: number) => number): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 0x30;
    sum += index % 2 === 0 ? digit : weigh(digit);
  }
  return sum % 10 === 0;
}

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

/** Finds phone numbers: digits after a +, in a usual format, or after a word such as "phone". */
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
  return text
    .matchAll(international)
    .some(([, prefix, code = '', rest = '']) =>
      prefix === '+' ? isAfterPlus(code, rest) : isAfterZeros(rest),
    );
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
  return text.matchAll(named).some(([, digits = '']) => {
    const isDate = /^(?:19|20)[0-9]{2}[-./ ]?[01][0-9][-./ ]?[0-3][0-9]/.test(digits);
    return !isDate && !isSum(digits) && !/^[0-9]+\.[0-9]+$/.test(digits);
  });
}

/** Areas 000, 666 and 900 to 999, group 00 and serial 0000 are never issued. */
const area = '(?!000|666|9)[0-9]{3}';
const group = '(?!00)[0-9]{2}';
const serial = '(?!0000)[0-9]{4}';

const socialSecurityNumber = new RegExp(
  [
    // 123-45-6789, but not in the middle of a longer number, as in ORD-123-45-6789.
    `(?<![a-z0-9_]|[a-z0-9]-|[0-9]\\.)${area}-${group}-${serial}(?![a-z0-9_]|-[a-z0-9]|\\.[0-9])`,
    `(?<![a-z0-9_.-]|[0-9] )${area} ${group} ${serial}(?![a-z0-9_]|[ .-][0-9])`,
    // Nine bare digits may be a bank's routing number, so they need a word before them.
    `(?<![a-z])(?:ssn|social security)(?: number| no)?[:=#. -]{0,3}${area}[ -]?${group}[ -]?${serial}(?![0-9])`,
  ].join('|'),
  'i',
);

/** Finds US social security numbers. */
export function holdsSocialSecurityNumber(text: string): boolean {
  return socialSecurityNumber.test(text);
}
