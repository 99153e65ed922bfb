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
