/** Bugs in parameters and in the errors about them. */
import { acceptsQuery, asked, inError, inQuery, inRefusal, inRequest, json, plantedIn } from './plant.ts';

const isUnknown = (name: string) => !['cursor', 'limit', 'reference_id'].includes(name);

/** Changes each value. */
const eachValue = (change: (value: string) => string) => (query: URLSearchParams) => {
  for (const [name, value] of [...query]) query.set(name, change(value));
};

export const bugsInParameters = plantedIn({
  'brands.limit.zero: limit=0 is accepted': acceptsQuery(
    'brands',
    'VALUE_TOO_LOW',
    (query) => query.get('limit') === '0' && query.set('limit', '1'),
  ),
  'brands.limit.over-100: a limit over 100 is lowered to 100 without an error': acceptsQuery(
    'brands',
    'VALUE_TOO_HIGH',
    (query) => query.set('limit', '100'),
  ),
  'balances.limit.fraction: limit=5.0 is accepted': inQuery(
    'balances',
    (query) => query.get('limit') === '5.0' && query.set('limit', '5'),
  ),
  'brands.limit.word: a limit that is not a number is accepted': inQuery(
    'brands',
    (query) => query.get('limit') === 'five' && query.set('limit', '5'),
  ),
  'brands.limit.leading-zeros: a leading zero of the limit is ignored': inQuery(
    'brands',
    (query) => query.get('limit') === '007' && query.set('limit', '7'),
  ),
  'brands.unknown.name +6: an unknown parameter is accepted': acceptsQuery(
    'brands',
    'UNKNOWN_QUERY_PARAMETER',
    (query) => {
      for (const name of [...query.keys()].filter(isUnknown)) query.delete(name);
    },
  ),
  'brands.unknown.long-name: the name of an unknown parameter is not cut': inError(
    'UNKNOWN_QUERY_PARAMETER',
    (error, sent) => {
      const long = [...asked(sent).query.keys()].find((name) => name.length > 64);
      return { ...error, field: long ?? error.field };
    },
  ),
  'balances.type.twice: of a parameter that is sent twice, the last one counts': inQuery(
    'balances',
    (query) => query.getAll('type').length > 1 && query.set('type', 'CHECKING'),
  ),
  'brands.reference_id.empty: an empty parameter is taken as absent': inQuery(
    'brands',
    (query) => query.get('reference_id') === '' && query.delete('reference_id'),
  ),
  'brands.cursor.empty: an empty cursor starts a new walk': inQuery(
    'brands',
    (query) => query.get('cursor') === '' && query.delete('cursor'),
  ),
  'balances.customer_id.too-long: a value that is too long is cut': inQuery('balances', (query) => {
    const customer = query.get('customer_id') ?? '';
    if (customer.length > 128) query.set('customer_id', customer.slice(0, 128));
  }),
  'brands.reference_id.code-points: the length of a value is counted in bytes': inQuery('brands', (query) => {
    const reference = query.get('reference_id') ?? '';
    if (Buffer.byteLength(reference) > 1_024) query.set('reference_id', reference.padEnd(4_000, '0'));
  }),
  'brands.reference_id.line-feed: a line break in a value is accepted': acceptsQuery(
    'brands',
    'INVALID_CHARACTER',
    eachValue((value) => value.replaceAll('\n', '')),
  ),
  'brands.reference_id.utf-8: broken UTF-8 is replaced': inRequest((sent) => ({
    ...sent,
    target: sent.target.replace('reference_id=%C3%28', 'reference_id=%3F'),
  })),
  'balances.type.lower-case: the type may be in lower case': inQuery(
    'balances',
    (query) => query.get('type') === 'checking' && query.set('type', 'CHECKING'),
  ),
  'balances.type.missing: the type may be absent': inQuery(
    'balances',
    (query) => query.has('type') || query.set('type', 'CHECKING'),
  ),
  'brands.all-at-once: only the first fault of a request is reported': inRefusal(
    'VALUE_EMPTY',
    (reply, errors) => json(reply, { errors: errors.slice(0, 1) }),
  ),
  'balances.all-at-once: faults are reported in another order': inRefusal(
    'MISSING_REQUIRED_PARAMETER',
    (reply, errors) => json(reply, { errors: errors.toReversed() }),
    'balances',
  ),
  'brands.unknown.at-most-20: an answer has more than 20 errors': inRefusal(
    'UNKNOWN_QUERY_PARAMETER',
    (reply, errors) => json(reply, { errors: errors.length < 20 ? errors : [...errors, ...errors] }),
  ),
  'balances.type.other: an error names no field': inError(
    'INVALID_ENUM_VALUE',
    ({ field: _, ...error }) => error,
  ),
  'errors.records +5: an error has a category that does not exist': inError(
    'INVALID_ENUM_VALUE',
    (error) => ({ ...error, category: 'VALIDATION_ERROR' }),
  ),
  'brands.limit.over-100: an error has no detail': inError(
    'VALUE_TOO_HIGH',
    ({ detail: _, ...error }) => error,
  ),
  'brands.unknown.suggestion: an unknown parameter gets no suggestion': inError(
    'UNKNOWN_QUERY_PARAMETER',
    (error) => ({ ...error, detail: 'Remove it.' }),
  ),
  'errors.no-values: an error repeats a long value': inError('VALUE_TOO_LONG', (error, sent) => ({
    ...error,
    detail: `Shorten ${[...asked(sent).query.values()].find((value) => value.length > 64)}.`,
  })),
  'balances.invalid.type: errors come with the status 200': inRefusal('INVALID_ENUM_VALUE', (reply) => ({
    ...reply,
    status: 200,
  })),
  'balances.invalid.no-type +6: invalid parameters have the status 422': inRefusal(
    'MISSING_REQUIRED_PARAMETER',
    (reply) => ({ ...reply, status: 422 }),
  ),
  'balances.invalid.type +5: the error is in a field named error': inRefusal(
    'INVALID_ENUM_VALUE',
    (reply, [error]) => json(reply, { error }),
  ),
  'brands.unknown.plus: a plus sign in a query is not a space': inRequest((sent) => ({
    ...sent,
    target: sent.target.replaceAll('+', '%2B'),
  })),
});
