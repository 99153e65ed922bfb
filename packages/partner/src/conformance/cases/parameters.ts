/** Every error of the parameters. */
import { table } from './table.ts';

const x = '/balances?customer_id=x';
const balances = `${x}&type=CHECKING&`;

/** The errors of a parameter that is a text. `path` is a request without it. */
const ofText = (listing: string, path: string, name: string, max: number) => `
${listing}.${name}.empty: ${name} is not empty | ${path}${name}= -> 400 VALUE_EMPTY ${name}
${listing}.${name}.too-long: ${name} has at most ${max} characters |
  ${path}${name}=${'0'.repeat(max + 1)} -> 400 VALUE_TOO_LONG ${name}
${listing}.${name}.twice: ${name} comes once |
  ${path}${name}=a&${name}=b -> 400 CONFLICTING_PARAMETERS ${name}
${listing}.${name}.line-feed: ${name} has no line feed | ${path}${name}=a%0A -> 400 INVALID_CHARACTER ${name}
${listing}.${name}.utf-8: ${name} is UTF-8 | ${path}${name}=%C3%28 -> 400 INVALID_CHARACTER ${name}`;

const ofBoth = (listing: string, path: string) => `
${listing}.limit.empty: limit is not empty | ${path}limit= -> 400 VALUE_EMPTY limit
${listing}.limit.twice: limit comes once | ${path}limit=5&limit=5 -> 400 CONFLICTING_PARAMETERS limit
${listing}.limit.word: limit is a number | ${path}limit=five -> 400 EXPECTED_INTEGER limit
${listing}.limit.fraction: limit has no fraction | ${path}limit=5.0 -> 400 EXPECTED_INTEGER limit
${listing}.limit.leading-zeros: limit has no leading zeros | ${path}limit=007 -> 400 EXPECTED_INTEGER limit
${listing}.limit.zero: limit is at least 1 | ${path}limit=0 -> 400 VALUE_TOO_LOW limit
${listing}.limit.over-100: limit is at most 100 | ${path}limit=101 -> 400 VALUE_TOO_HIGH limit
${ofText(listing, path, 'cursor', 1024)}`;

const unknown = (...names: readonly string[]) =>
  names.map((name) => `UNKNOWN_QUERY_PARAMETER ${name}`).join(', ');
const twenty = Array.from({ length: 20 }, (_, index) => `u${index}`);

export const parameters = table(
  `
# 7 specification
brands.invalid.limit: A limit must be an integer: 400 with Error records | /brands?limit=x -> 400 errors
balances.invalid.limit: A limit must be an integer: 400 with Error records |
  ${balances}limit=x -> 400 errors
balances.invalid.no-customer: customer_id is required | /balances?type=CHECKING -> 400 errors
balances.invalid.no-type: type is required | ${x} -> 400 errors
balances.invalid.type: A type other than CHECKING is a 400 with Error records | ${x}&type=x -> 400 errors
# Errors decisions
${ofBoth('brands', '/brands?')}
${ofBoth('balances', balances)}
${ofText('brands', '/brands?', 'reference_id', 1024)}
${ofText('balances', '/balances?type=CHECKING&', 'customer_id', 128)}
${ofText('balances', balances, 'grant_id', 256)}
balances.type.other: type is CHECKING | ${x}&type=SAVINGS -> 400 INVALID_ENUM_VALUE type
balances.type.lower-case: type is in capitals | ${x}&type=checking -> 400 INVALID_ENUM_VALUE type
balances.type.twice: type comes once | ${balances}type=CHECKING -> 400 CONFLICTING_PARAMETERS type
balances.type.missing: A missing type has its own code | ${x} -> 400 MISSING_REQUIRED_PARAMETER type
brands.all-at-once: All faults are reported, known parameters first and in their order |
  /brands?b=1&reference_id=&a=1&limit=x&cursor= -> 400 VALUE_EMPTY cursor, EXPECTED_INTEGER limit,
  VALUE_EMPTY reference_id, ${unknown('b', 'a')}
balances.all-at-once: All faults are reported, known parameters first and in their order |
  /balances?limit=x&cursor=&b=1&grant_id=&type=x&a=1 -> 400 MISSING_REQUIRED_PARAMETER customer_id,
  INVALID_ENUM_VALUE type, VALUE_EMPTY grant_id, VALUE_EMPTY cursor, EXPECTED_INTEGER limit,
  ${unknown('b', 'a')}
brands.unknown.name: An unknown parameter is refused | /brands?colour=red -> 400 ${unknown('colour')}
brands.unknown.plus: A plus sign in the query is a space | /brands?a+b=1 -> 400 ${unknown('a b')}
brands.unknown.long-name: The field of an error is cut at 64 characters |
  /brands?${'x'.repeat(70)}=1 -> 400 ${unknown('x'.repeat(64))}
brands.unknown.at-most-20: An answer has at most 20 errors |
  /brands?${[...twenty, 'v', 'w'].join('=1&')}=1 -> 400 ${unknown(...twenty)}
brands.unknown.suggestion: The detail for an unknown parameter suggests the nearest name |
  /brands?refrence_id=x -> 400 ${unknown('refrence_id')} mentioning reference_id
brands.reference_id.code-points: Lengths are counted in code points |
  /brands?reference_id=${encodeURIComponent('🦊').repeat(1024)} -> 200
`,
);
