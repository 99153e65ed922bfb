/** The components of records, pages and errors. */
import { errorCatalogue } from '../errors.ts';
import { echoedCharacters, lengths, maxErrors, pageSize } from '../limits.ts';
import { type ListingName, operations } from '../operations.ts';
import { errorRecordSchema, nextCursor, type RecordSchema } from '../records.ts';
import { listingTexts } from './listings.ts';
import { asSent, cursorText, exampleCursor } from './patterns.ts';

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
    description: `A page of ${plural}, in ascending order of id.`,
    required: [plural],
    properties: {
      [plural]: list(recordName, `The ${plural} that match the query.`, pageSize.max),
      cursor: { ...nextCursor, pattern: cursorText, examples: [exampleCursor] },
    },
  };
}

/**
 * A code is an open string, as in the specification, and not an enum: a client generated from an enum would
 * fail as soon as a code is added. `x-extensible-enum` lists the codes that exist.
 */
const errorBounds = {
  category: { examples: ['INVALID_REQUEST_ERROR'] },
  code: {
    maxLength: lengths.errorCode,
    pattern: '^[A-Z][A-Z0-9_]*$',
    description:
      'Identifier of the specific kind of error. More of them may be added: treat one that you do not know ' +
      'by its category and the status of the answer.',
    'x-extensible-enum': Object.keys(errorCatalogue),
  },
  detail: { maxLength: lengths.errorDetail },
  field: { maxLength: echoedCharacters },
};

const exampleError = {
  code: 'VALUE_TOO_HIGH',
  detail: 'Lower limit to at most 100, and follow the cursor for the rest.',
  field: 'limit',
};

const texts = operations.map(({ name }) => ({ name, record: listingTexts[name].record }));

export const schemas = {
  ...Object.fromEntries(
    texts.map(({ record }) => [
      record.name,
      component(record.name, record.description, record.schema, record.example, record.bounds),
    ]),
  ),
  ...Object.fromEntries(texts.map(({ name, record }) => [`${record.name}sPage`, page(name, record.name)])),
  Error: component(
    'Error',
    'One thing that is wrong with a request, or with us.',
    errorRecordSchema,
    exampleError,
    errorBounds,
  ),
  ErrorBody: {
    title: 'ErrorBody',
    type: 'object',
    description: 'The body of every answer that is not a 2xx.',
    required: ['errors'],
    properties: {
      errors: list('Error', 'All that is wrong, one error a parameter.', maxErrors, { minItems: 1 }),
    },
  },
};
