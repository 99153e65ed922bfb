/** Bugs in parameters and in the errors about them. */
import { acceptsQuery, asked, inError, inQuery, inRefusal, inRequest, json, type Planted } from './plant.ts';

const isUnknown = (name: string) => !['cursor', 'limit', 'reference_id'].includes(name);

/** Changes each value. */
const eachValue = (change: (value: string) => string) => (query: URLSearchParams) => {
  for (const [name, value] of [...query]) query.set(name, change(value));
};

export const bugsInParameters: readonly Planted[] = [
  {
    bug: 'limit=0 is accepted',
    caughtBy: 'brands.limit.zero',
    plant: acceptsQuery(
      'brands',
      'VALUE_TOO_LOW',
      (query) => query.get('limit') === '0' && query.set('limit', '1'),
    ),
  },
  {
    bug: 'a limit over 100 is lowered to 100 without an error',
    caughtBy: 'brands.limit.over-100',
    plant: acceptsQuery('brands', 'VALUE_TOO_HIGH', (query) => query.set('limit', '100')),
  },
  {
    bug: 'limit=5.0 is accepted',
    caughtBy: 'balances.limit.fraction',
    plant: inQuery('balances', (query) => query.get('limit') === '5.0' && query.set('limit', '5')),
  },
  {
    bug: 'a limit that is not a number is accepted',
    caughtBy: 'brands.limit.word',
    plant: inQuery('brands', (query) => query.get('limit') === 'five' && query.set('limit', '5')),
  },
  {
    bug: 'a leading zero of the limit is ignored',
    caughtBy: 'brands.limit.leading-zeros',
    plant: inQuery('brands', (query) => query.get('limit') === '007' && query.set('limit', '7')),
  },
  {
    bug: 'an unknown parameter is accepted',
    caughtBy: 'brands.unknown.name',
    others: 6,
    plant: acceptsQuery('brands', 'UNKNOWN_QUERY_PARAMETER', (query) => {
      for (const name of [...query.keys()].filter(isUnknown)) query.delete(name);
    }),
  },
  {
    bug: 'the name of an unknown parameter is not cut',
    caughtBy: 'brands.unknown.long-name',
    plant: inError('UNKNOWN_QUERY_PARAMETER', (error, sent) => {
      const long = [...asked(sent).query.keys()].find((name) => name.length > 64);
      return { ...error, field: long ?? error.field };
    }),
  },
  {
    bug: 'of a parameter that is sent twice, the last one counts',
    caughtBy: 'balances.type.twice',
    plant: inQuery('balances', (query) => query.getAll('type').length > 1 && query.set('type', 'CHECKING')),
  },
  {
    bug: 'an empty parameter is taken as absent',
    caughtBy: 'brands.reference_id.empty',
    plant: inQuery('brands', (query) => query.get('reference_id') === '' && query.delete('reference_id')),
  },
  {
    bug: 'an empty cursor starts a new walk',
    caughtBy: 'brands.cursor.empty',
    plant: inQuery('brands', (query) => query.get('cursor') === '' && query.delete('cursor')),
  },
  {
    bug: 'a value that is too long is cut',
    caughtBy: 'balances.customer_id.too-long',
    plant: inQuery('balances', (query) => {
      const customer = query.get('customer_id') ?? '';
      if (customer.length > 128) query.set('customer_id', customer.slice(0, 128));
    }),
  },
  {
    bug: 'the length of a value is counted in bytes',
    caughtBy: 'brands.reference_id.code-points',
    plant: inQuery('brands', (query) => {
      const reference = query.get('reference_id') ?? '';
      if (Buffer.byteLength(reference) > 1_024) query.set('reference_id', reference.padEnd(4_000, '0'));
    }),
  },
  {
    bug: 'a line break in a value is accepted',
    caughtBy: 'brands.reference_id.line-feed',
    plant: acceptsQuery(
      'brands',
      'INVALID_CHARACTER',
      eachValue((value) => value.replaceAll('\n', '')),
    ),
  },
  {
    bug: 'broken UTF-8 is replaced',
    caughtBy: 'brands.reference_id.utf-8',
    plant: inRequest((sent) => ({
      ...sent,
      target: sent.target.replace('reference_id=%C3%28', 'reference_id=%3F'),
    })),
  },
  {
    bug: 'the type may be in lower case',
    caughtBy: 'balances.type.lower-case',
    plant: inQuery('balances', (query) => query.get('type') === 'checking' && query.set('type', 'CHECKING')),
  },
  {
    bug: 'the type may be absent',
    caughtBy: 'balances.type.missing',
    plant: inQuery('balances', (query) => query.has('type') || query.set('type', 'CHECKING')),
  },
  {
    bug: 'only the first fault of a request is reported',
    caughtBy: 'brands.all-at-once',
    plant: inRefusal('VALUE_EMPTY', (reply, errors) => json(reply, { errors: errors.slice(0, 1) })),
  },
  {
    bug: 'faults are reported in another order',
    caughtBy: 'balances.all-at-once',
    plant: inRefusal(
      'MISSING_REQUIRED_PARAMETER',
      (reply, errors) => json(reply, { errors: errors.toReversed() }),
      'balances',
    ),
  },
  {
    bug: 'an answer has more than 20 errors',
    caughtBy: 'brands.unknown.at-most-20',
    plant: inRefusal('UNKNOWN_QUERY_PARAMETER', (reply, errors) =>
      json(reply, { errors: errors.length < 20 ? errors : [...errors, ...errors] }),
    ),
  },
  {
    bug: 'an error names the wrong field',
    caughtBy: 'brands.limit.over-100',
    plant: inError('VALUE_TOO_HIGH', (error) => ({ ...error, field: 'page_size' })),
  },
  {
    bug: 'an error names no field',
    caughtBy: 'balances.type.other',
    plant: inError('INVALID_ENUM_VALUE', ({ field: _, ...error }) => error),
  },
  {
    bug: 'an error has the wrong category',
    caughtBy: 'brands.limit.over-100',
    plant: inError('VALUE_TOO_HIGH', (error) => ({ ...error, category: 'BRAND_ERROR' })),
  },
  {
    bug: 'an error has a category that does not exist',
    caughtBy: 'errors.records',
    others: 5,
    plant: inError('INVALID_ENUM_VALUE', (error) => ({ ...error, category: 'VALIDATION_ERROR' })),
  },
  {
    bug: 'an error has the wrong code',
    caughtBy: 'balances.type.missing',
    plant: inError('MISSING_REQUIRED_PARAMETER', (error) => ({ ...error, code: 'MISSING_PARAMETER' })),
  },
  {
    bug: 'an error has no detail',
    caughtBy: 'brands.limit.over-100',
    plant: inError('VALUE_TOO_HIGH', ({ detail: _, ...error }) => error),
  },
  {
    bug: 'an unknown parameter gets no suggestion',
    caughtBy: 'brands.unknown.suggestion',
    plant: inError('UNKNOWN_QUERY_PARAMETER', (error) => ({ ...error, detail: 'Remove it.' })),
  },
  {
    bug: 'an error repeats a long value',
    caughtBy: 'errors.no-values',
    plant: inError('VALUE_TOO_LONG', (error, sent) => ({
      ...error,
      detail: `Shorten ${[...asked(sent).query.values()].find((value) => value.length > 64)}.`,
    })),
  },
  {
    bug: 'errors come with the status 200',
    caughtBy: 'balances.invalid.type',
    plant: inRefusal('INVALID_ENUM_VALUE', (reply) => ({ ...reply, status: 200 })),
  },
  {
    bug: 'invalid parameters have the status 422',
    caughtBy: 'balances.invalid.no-type',
    others: 6,
    plant: inRefusal('MISSING_REQUIRED_PARAMETER', (reply) => ({ ...reply, status: 422 })),
  },
  {
    bug: 'the error is in a field named error',
    caughtBy: 'balances.invalid.type',
    others: 5,
    plant: inRefusal('INVALID_ENUM_VALUE', (reply, [error]) => json(reply, { error })),
  },
  {
    bug: 'a plus sign in a query is not a space',
    caughtBy: 'brands.unknown.plus',
    plant: inRequest((sent) => ({ ...sent, target: sent.target.replaceAll('+', '%2B') })),
  },
];
