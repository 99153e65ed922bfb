/** Every error of the parameters. */
import { Cases, type Code } from '../case.ts';

const noType = '/balances?customer_id=x';
const balances = `${noType}&type=CHECKING&`;

const specified = new Cases('7')
  .promise('brands.invalid.limit', 'A limit must be an integer: 400 with Error records')
  .gets('400 errors', { path: '/brands?limit=x' })
  .promise('balances.invalid.limit', 'A limit must be an integer: 400 with Error records')
  .gets('400 errors', { path: `${balances}limit=x` })
  .promise('balances.invalid.no-customer', 'customer_id is required')
  .gets('400 errors', { path: '/balances?type=CHECKING' })
  .promise('balances.invalid.no-type', 'type is required')
  .gets('400 errors', { path: noType })
  .promise('balances.invalid.type', 'A type other than CHECKING is a 400 with Error records')
  .gets('400 errors', { path: `${noType}&type=x` });

/** Adds each value of a parameter to a path, and expects an error about it. */
function refused(
  path: string,
  name: string,
  values: readonly (readonly [id: string, value: string, code: Code, promise: string])[],
) {
  const cases = new Cases();
  for (const [id, value, code, promise] of values)
    cases.promise(`${name}.${id}`, promise).gets({ [name]: code }, { path: `${path}${name}=${value}` });
  return cases.all;
}

const ofText = (path: string, name: string, max: number) =>
  refused(path, name, [
    ['empty', '', 'VALUE_EMPTY', `${name} is not empty`],
    ['too-long', '0'.repeat(max + 1), 'VALUE_TOO_LONG', `${name} has at most ${max} characters`],
    ['twice', `a&${name}=b`, 'CONFLICTING_PARAMETERS', `${name} comes once`],
    ['line-feed', 'a%0A', 'INVALID_CHARACTER', `${name} has no line feed`],
    ['utf-8', '%C3%28', 'INVALID_CHARACTER', `${name} is UTF-8`],
  ]);

const ofPaging = (path: string) => [
  ...refused(path, 'limit', [
    ['empty', '', 'VALUE_EMPTY', 'limit is not empty'],
    ['twice', '5&limit=5', 'CONFLICTING_PARAMETERS', 'limit comes once'],
    ['word', 'five', 'EXPECTED_INTEGER', 'limit is a number'],
    ['fraction', '5.0', 'EXPECTED_INTEGER', 'limit has no fraction'],
    ['leading-zeros', '007', 'EXPECTED_INTEGER', 'limit has no leading zeros'],
    ['zero', '0', 'VALUE_TOO_LOW', 'limit is at least 1'],
    ['over-100', '101', 'VALUE_TOO_HIGH', 'limit is at most 100'],
  ]),
  ...ofText(path, 'cursor', 1024),
];

const ofType = refused(`${noType}&`, 'type', [
  ['other', 'SAVINGS', 'INVALID_ENUM_VALUE', 'type is CHECKING'],
  ['lower-case', 'checking', 'INVALID_ENUM_VALUE', 'type is in capitals'],
  ['twice', 'CHECKING&type=CHECKING', 'CONFLICTING_PARAMETERS', 'type comes once'],
]);

const unknown = 'UNKNOWN_QUERY_PARAMETER';
const twenty = Array.from({ length: 20 }, (_, index) => `u${index}`);

const errors = new Cases('Errors')
  .under('brands', ...ofPaging('/brands?'))
  .under('balances', ...ofPaging(balances))
  .under('brands', ...ofText('/brands?', 'reference_id', 1024))
  .under('balances', ...ofText('/balances?type=CHECKING&', 'customer_id', 128))
  .under('balances', ...ofText(balances, 'grant_id', 256))
  .under('balances', ...ofType)
  .promise('balances.type.missing', 'A missing type has its own code')
  .gets({ type: 'MISSING_REQUIRED_PARAMETER' }, { path: noType })
  .promise('brands.all-at-once', 'All faults are reported, known parameters first and in their order')
  .gets(
    { cursor: 'VALUE_EMPTY', limit: 'EXPECTED_INTEGER', reference_id: 'VALUE_EMPTY', b: unknown, a: unknown },
    { path: '/brands?b=1&reference_id=&a=1&limit=x&cursor=' },
  )
  .promise('balances.all-at-once', 'All faults are reported, known parameters first and in their order')
  .gets(
    {
      customer_id: 'MISSING_REQUIRED_PARAMETER',
      type: 'INVALID_ENUM_VALUE',
      grant_id: 'VALUE_EMPTY',
      cursor: 'VALUE_EMPTY',
      limit: 'EXPECTED_INTEGER',
      b: unknown,
      a: unknown,
    },
    { path: '/balances?limit=x&cursor=&b=1&grant_id=&type=x&a=1' },
  )
  .promise('brands.unknown.name', 'An unknown parameter is refused')
  .gets({ colour: unknown }, { path: '/brands?colour=red' })
  .promise('brands.unknown.plus', 'A plus sign in the query is a space')
  .gets({ 'a b': unknown }, { path: '/brands?a+b=1' })
  .promise('brands.unknown.long-name', 'The field of an error is cut at 64 characters')
  .gets({ ['x'.repeat(64)]: unknown }, { path: `/brands?${'x'.repeat(70)}=1` })
  .promise('brands.unknown.at-most-20', 'An answer has at most 20 errors')
  .gets(Object.fromEntries(twenty.map((name) => [name, unknown])), {
    path: `/brands?${[...twenty, 'v', 'w'].join('=1&')}=1`,
  })
  .promise('brands.unknown.suggestion', 'The detail for an unknown parameter suggests the nearest name')
  .gets({ refrence_id: unknown }, { path: '/brands?refrence_id=x' }, 'reference_id')
  .promise('brands.reference_id.code-points', 'Lengths are counted in code points')
  .gets(200, { path: `/brands?reference_id=${encodeURIComponent('🦊').repeat(1024)}` });

export const parameters = [specified, errors];
