/** The components of records, pages and errors. */
import { errorCatalogue } from '../errors.ts';
import { echoedCharacters, lengths, maxErrors, pageSize } from '../limits.ts';
import { type ListingName, listings } from '../operations.ts';
import { errorRecordSchema, nextCursor, type RecordSchema } from '../records.ts';
import { asSent, cursorText } from './document.ts';
import { exampleCursor, listingTexts } from './listings.ts';

/**
 * The component of a record. It allows additional fields: a new optional field must not break a client that
 * was generated earlier. The tests refuse any field that the document does not list.
 */
function component(
  title: string,
  description: string,
  { required, properties }: RecordSchema,
  example: Readonly<Record<string, unknown>>,
  bounds: Readonly<Record<string, object>> = {},
): object {
  const fields = Object.entries(properties).map(([field, schema]) => {
    const shown = { ...asSent(schema), ...bounds[field] };
    return [field, field in example ? { ...shown, examples: [example[field]] } : shown];
  });
  return { title, type: 'object', description, required, properties: Object.fromEntries(fields) };
}

function list(name: string, description: string, maxItems: number, bounds: object = {}): object {
  return { type: 'array', description, ...bounds, maxItems, items: { $ref: `#/components/schemas/${name}` } };
}

function page(plural: ListingName, recordName: string): object {
  return {
    title: `${recordName}sPage`,
    type: 'object',
    description: `A page of ${plural} in ascending order of \`id\`.`,
    required: [plural],
    properties: {
      [plural]: list(recordName, `The ${plural} that match the query.`, pageSize.max),
      cursor: { ...nextCursor, pattern: cursorText, examples: [exampleCursor] },
    },
  };
}

/**
 * A code is an open string, as in the specification, and not an enum: a client generated from an enum would
 * fail as soon as a code is added. The schema `ErrorCode` lists the codes that exist.
 */
const errorBounds = {
  category: { examples: ['INVALID_REQUEST_ERROR'] },
  code: {
    maxLength: lengths.errorCode,
    pattern: '^[A-Z][A-Z0-9_]*$',
    description:
      'Identifier of the kind of error: one of `ErrorCode`. Codes may be added. Handle an unknown code by ' +
      'its category and the status of the response.',
  },
  detail: { maxLength: lengths.errorDetail },
  field: { maxLength: echoedCharacters },
};

const exampleError = {
  code: 'VALUE_TOO_HIGH',
  detail: 'Set limit to at most 100, and use the cursor to get further pages.',
  field: 'limit',
};

const texts = listings.map(({ name, result }) => ({
  name,
  of: result.of,
  record: listingTexts[name].record,
}));

export const schemas = {
  ...Object.fromEntries(
    texts.map(({ of, record }) => [
      of,
      component(of, record.description, record.schema, record.example, record.bounds),
    ]),
  ),
  ...Object.fromEntries(texts.map(({ name, of }) => [`${of}sPage`, page(name, of)])),
  ErrorRecord: component(
    'ErrorRecord',
    'One error of a request.',
    errorRecordSchema,
    exampleError,
    errorBounds,
  ),
  ErrorCode: {
    title: 'ErrorCode',
    type: 'string',
    description: 'The codes that exist now. Codes may be added.',
    enum: Object.keys(errorCatalogue),
  },
  ErrorBody: {
    title: 'ErrorBody',
    type: 'object',
    description: 'The body of every response with a status other than 2xx.',
    required: ['errors'],
    properties: {
      errors: list(
        'ErrorRecord',
        'One for each invalid parameter, the first 20 at most, or one for any other cause.',
        maxErrors,
        {
          minItems: 1,
        },
      ),
    },
  },
};
