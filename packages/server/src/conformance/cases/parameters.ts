/** Every fault of the parameters, one case for each. */
import { table } from './table.ts';
import type { Listing } from './walks.ts';

/** The faults of a parameter X that is a text. `<9>` stands for nine characters. */
const ofText = (name: string, max: number) =>
  `
X.empty             X=          VALUE_EMPTY
X.too-long          X=<${max + 1}>  VALUE_TOO_LONG
X.twice             X=a&X=b     CONFLICTING_PARAMETERS
X.control-character X=a%0A      INVALID_CHARACTER
X.percent           X=%zz       INVALID_CHARACTER
X.utf-8             X=%C3%28    INVALID_CHARACTER
`.replaceAll('X', name);

/** A line is an id, a query and a code. The parameter is the first part of the id. */
const ofBoth = `${ofText('cursor', 1024)}
limit.empty             limit=          VALUE_EMPTY
limit.twice             limit=5&limit=5 CONFLICTING_PARAMETERS
limit.control-character limit=5%00      INVALID_CHARACTER
limit.word              limit=five      EXPECTED_INTEGER
limit.fraction          limit=5.0       EXPECTED_INTEGER
limit.exponent          limit=1e2       EXPECTED_INTEGER
limit.plus              limit=%2B5      EXPECTED_INTEGER
limit.space             limit=+5        EXPECTED_INTEGER
limit.hexadecimal       limit=0x5       EXPECTED_INTEGER
limit.leading-zeros     limit=007       EXPECTED_INTEGER
limit.zero              limit=0         VALUE_TOO_LOW
limit.negative          limit=-1        VALUE_TOO_LOW
limit.over-100          limit=101       VALUE_TOO_HIGH
limit.huge              limit=9<29>     VALUE_TOO_HIGH
limit.twice-and-empty   limit=&limit=   CONFLICTING_PARAMETERS
limit.before-cursor     cursor=x&limit=0 VALUE_TOO_LOW
cursor.long-with-control-character cursor=<1100>%00 INVALID_CHARACTER
`;

const faults: Readonly<Record<Listing, string>> = {
  brands: ofBoth + ofText('reference_id', 1024),
  balances: `${ofBoth + ofText('customer_id', 128) + ofText('grant_id', 256)}
type.empty      type=         VALUE_EMPTY
type.other      type=SAVINGS  INVALID_ENUM_VALUE
type.lower-case type=checking INVALID_ENUM_VALUE
type.twice      type=CHECKING&type=CHECKING CONFLICTING_PARAMETERS
`,
};

const required = { brands: [], balances: ['customer_id=x', 'type=CHECKING'] };

/** A text of the table for each line. */
const casesOf = (listing: Listing) =>
  faults[listing]
    .trim()
    .split(/\n+/)
    .map((line) => {
      const [id = '', short = '', code] = line.split(/ +/);
      const [parameter = ''] = id.split('.');
      const rest = required[listing].filter((pair) => !pair.startsWith(parameter));
      const query = [...rest, short.replace(/<(\d+)>/, (_, count) => '0'.repeat(Number(count)))].join('&');
      const gets = `/${listing}?${query} -> 400 ${code} ${parameter}`;
      return `${listing}.${id}: ${short} is refused with ${code} | ${gets}`;
    });

const unknown = (names: readonly string[]) =>
  names.map((name) => `UNKNOWN_QUERY_PARAMETER ${name}`).join(', ');
const twenty = Array.from({ length: 20 }, (_, index) => `u${index}`);

export const parameters = table(
  `
# 7 specification
brands.invalid.limit: A limit that is not an integer is a 400 with Error records |
  /brands?limit=x -> 400 errors
balances.invalid.limit: A limit that is not an integer is a 400 with Error records |
  /balances?customer_id=x&type=CHECKING&limit=x -> 400 errors
balances.invalid.no-customer: A request without customer_id is a 400 with Error records |
  /balances?type=CHECKING -> 400 errors
balances.invalid.no-type: A request without type is a 400 with Error records |
  /balances?customer_id=x -> 400 errors
balances.invalid.type: A type other than CHECKING is a 400 with Error records |
  /balances?customer_id=x&type=x -> 400 errors
# Errors decisions
${[...casesOf('brands'), ...casesOf('balances')].join('\n')}
balances.customer_id.missing: customer_id is required |
  /balances?type=CHECKING -> 400 MISSING_REQUIRED_PARAMETER customer_id
balances.type.missing: type is required | /balances?customer_id=x -> 400 MISSING_REQUIRED_PARAMETER type
brands.all-at-once: All faults are reported, known parameters first and in their order |
  /brands?b=1&reference_id=&a=1&limit=x&cursor= -> 400 VALUE_EMPTY cursor, EXPECTED_INTEGER limit,
  VALUE_EMPTY reference_id, ${unknown(['b', 'a'])}
balances.all-at-once: All faults are reported, known parameters first and in their order |
  /balances?limit=x&cursor=&b=1&grant_id=&type=x&a=1 -> 400 MISSING_REQUIRED_PARAMETER customer_id,
  INVALID_ENUM_VALUE type, VALUE_EMPTY grant_id, VALUE_EMPTY cursor, EXPECTED_INTEGER limit,
  ${unknown(['b', 'a'])}
brands.unknown.name: A parameter that the operation does not have is refused |
  /brands?colour=red -> 400 ${unknown(['colour'])}
balances.unknown.name: A parameter of the other operation is refused |
  /balances?customer_id=x&type=CHECKING&reference_id=x -> 400 ${unknown(['reference_id'])}
brands.unknown.plus: A plus sign in the query is a space | /brands?a+b=1 -> 400 ${unknown(['a b'])}
brands.unknown.case: The name of a parameter in another case is refused |
  /brands?LIMIT=5 -> 400 ${unknown(['LIMIT'])}
brands.unknown.long-name: The field of an error is cut at 64 characters |
  /brands?${'x'.repeat(70)}=1 -> 400 ${unknown(['x'.repeat(64)])}
brands.unknown.at-most-20: An answer has at most 20 errors |
  /brands?${[...twenty, 'v', 'w'].join('=1&')}=1 -> 400 ${unknown(twenty)}
brands.unknown.suggestion: The detail for an unknown parameter suggests the nearest name |
  /brands?refrence_id=x -> 400 ${unknown(['refrence_id'])} mentioning reference_id
brands.reference_id.code-points: Lengths are counted in code points |
  /brands?reference_id=${encodeURIComponent('🦊').repeat(1024)} -> 200
`,
);
