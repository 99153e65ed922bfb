/** Finds payment card numbers: an issuer's prefix and length, and a valid check digit. */

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

export function holdsCardNumber(text: string): boolean {
  for (const [, candidate = ''] of text.matchAll(candidates)) {
    if (isArticleNumber(candidate)) continue;
    // Up to three digits after the card may be its security code.
    if (isCardNumber(candidate) || isCardNumber(candidate.replace(/[ -]+[0-9]{1,3}$/, ''))) return true;
  }
  return false;
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
