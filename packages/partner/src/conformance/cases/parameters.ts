/** Every error of the parameters. */

import { type Code, type Definitions, section, under } from '../case.ts';

const noType = '/balances?customer_id=x';
const balances = `${noType}&type=CHECKING&`;

/** Adds a parameter to a request, and expects an error about it. */
const wrong = (start: string, name: string) => (value: string, code: Code) => ({
  path: `${start}${name}=${value}`,
  gets: { [name]: code },
});

const ofText = (start: string, name: string, max: number, text = wrong(start, name)) =>
  under(name, {
    empty: { promise: `${name} is not empty`, ...text('', 'VALUE_EMPTY') },
    'too-long': {
      promise: `${name} has at most ${max} characters`,
      ...text('0'.repeat(max + 1), 'VALUE_TOO_LONG'),
    },
    twice: { promise: `${name} comes once`, ...text(`a&${name}=b`, 'CONFLICTING_PARAMETERS') },
    'line-feed': { promise: `${name} has no line feed`, ...text('a%0A', 'INVALID_CHARACTER') },
    'utf-8': { promise: `${name} is UTF-8`, ...text('%C3%28', 'INVALID_CHARACTER') },
  });

const ofPaging = (start: string, limit = wrong(start, 'limit')): Definitions => ({
  'limit.empty': { promise: 'limit is not empty', ...limit('', 'VALUE_EMPTY') },
  'limit.twice': { promise: 'limit comes once', ...limit('5&limit=5', 'CONFLICTING_PARAMETERS') },
  'limit.word': { promise: 'limit is a number', ...limit('five', 'EXPECTED_INTEGER') },
  'limit.fraction': { promise: 'limit has no fraction', ...limit('5.0', 'EXPECTED_INTEGER') },
  'limit.leading-zeros': { promise: 'limit has no leading zeros', ...limit('007', 'EXPECTED_INTEGER') },
  'limit.zero': { promise: 'limit is at least 1', ...limit('0', 'VALUE_TOO_LOW') },
  'limit.over-100': { promise: 'limit is at most 100', ...limit('101', 'VALUE_TOO_HIGH') },
  ...ofText(start, 'cursor', 1024),
});

const type = wrong(`${noType}&`, 'type');
const unknown = 'UNKNOWN_QUERY_PARAMETER';
const twenty = Array.from({ length: 20 }, (_, index) => `u${index}`);

// biome-ignore format: a case has two lines, its promise and how it is checked.
export const parameters = [
  section('7', {
    'brands.invalid.limit': { promise: 'A limit must be an integer: 400 with Error records',
      path: '/brands?limit=x', gets: '400 errors' },
    'balances.invalid.limit': { promise: 'A limit must be an integer: 400 with Error records',
      path: `${balances}limit=x`, gets: '400 errors' },
    'balances.invalid.no-customer': { promise: 'customer_id is required',
      path: '/balances?type=CHECKING', gets: '400 errors' },
    'balances.invalid.no-type': { promise: 'type is required', path: noType, gets: '400 errors' },
    'balances.invalid.type': { promise: 'A type other than CHECKING is a 400 with Error records',
      path: `${noType}&type=x`, gets: '400 errors' },
  }),
  section('Errors', {
    ...under('brands', ofPaging('/brands?')),
    ...under('balances', ofPaging(balances)),
    ...under('brands', ofText('/brands?', 'reference_id', 1024)),
    ...under('balances', ofText('/balances?type=CHECKING&', 'customer_id', 128)),
    ...under('balances', ofText(balances, 'grant_id', 256)),
    'balances.type.other': { promise: 'type is CHECKING', ...type('SAVINGS', 'INVALID_ENUM_VALUE') },
    'balances.type.lower-case': { promise: 'type is in capitals', ...type('checking', 'INVALID_ENUM_VALUE') },
    'balances.type.twice': { promise: 'type comes once',
      ...type('CHECKING&type=CHECKING', 'CONFLICTING_PARAMETERS') },
    'balances.type.missing': { promise: 'A missing type has its own code',
      path: noType, gets: { type: 'MISSING_REQUIRED_PARAMETER' } },
    'brands.all-at-once': { promise: 'All faults are reported, known parameters first and in their order',
      path: '/brands?b=1&reference_id=&a=1&limit=x&cursor=',
      gets: { cursor: 'VALUE_EMPTY', limit: 'EXPECTED_INTEGER', reference_id: 'VALUE_EMPTY',
        b: unknown, a: unknown } },
    'balances.all-at-once': { promise: 'All faults are reported, known parameters first and in their order',
      path: '/balances?limit=x&cursor=&b=1&grant_id=&type=x&a=1',
      gets: { customer_id: 'MISSING_REQUIRED_PARAMETER', type: 'INVALID_ENUM_VALUE', grant_id: 'VALUE_EMPTY',
        cursor: 'VALUE_EMPTY', limit: 'EXPECTED_INTEGER', b: unknown, a: unknown } },
    'brands.unknown.name': { promise: 'An unknown parameter is refused',
      path: '/brands?colour=red', gets: { colour: unknown } },
    'brands.unknown.plus': { promise: 'A plus sign in the query is a space',
      path: '/brands?a+b=1', gets: { 'a b': unknown } },
    'brands.unknown.long-name': { promise: 'The field of an error is cut at 64 characters',
      path: `/brands?${'x'.repeat(70)}=1`, gets: { ['x'.repeat(64)]: unknown } },
    'brands.unknown.at-most-20': { promise: 'An answer has at most 20 errors',
      path: `/brands?${[...twenty, 'v', 'w'].join('=1&')}=1`,
      gets: Object.fromEntries(twenty.map((name) => [name, unknown])) },
    'brands.unknown.suggestion': { promise: 'The detail for an unknown parameter suggests the nearest name',
      path: '/brands?refrence_id=x', gets: { refrence_id: unknown }, mentions: 'reference_id' },
    'brands.reference_id.code-points': { promise: 'Lengths are counted in code points',
      path: `/brands?reference_id=${encodeURIComponent('🦊').repeat(1024)}`, gets: 200 },
  }),
].flat();
