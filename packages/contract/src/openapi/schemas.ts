/** The components of records, pages and errors. */
import { errorCatalogue, errorRecord } from '../errors.ts';
import { echoedCharacters, lengths, maxErrors, pageSize } from '../limits.ts';
import { type ListingName, listings } from '../operations.ts';
import { errorRecordSchema, nextCursor } from '../records.ts';
import { asSent, cursorText, ref } from './document.ts';
import { exampleCursor, listingTexts, type RecordText } from './listings.ts';

/**
 * The component of a record. It allows additional fields: a new optional field must not break a client that
 * was generated earlier. The tests refuse any field that the document does not list.
 */
function component(title: string, { description, schema, example, bounds = {} }: RecordText): object {
  const { required, properties } = schema;
  const fields = Object.entries(properties).map(([field, schema]) => {
    const shown = { ...asSent(schema), ...bounds[field] };
    return [field, field in example ? { ...shown, examples: [example[field]] } : shown];
  });
  return { title, type: 'object', description, required, properties: Object.fromEntries(fields) };
}

function page(plural: ListingName, recordName: string): object {
  return {
    title: `${recordName}sPage`,
    type: 'object',
    description: `A page of ${plural} in ascending order of \`id\`.`,
    required: [plural],
    properties: {
      [plural]: {
        type: 'array',
        description: `The ${plural} that match the query.`,
        maxItems: pageSize.max,
        items: ref('schemas', recordName),
      },
      cursor: { ...nextCursor, pattern: cursorText, examples: [exampleCursor] },
    },
  };
}

/**
 * A code is an open string, as in the specification, and not an enum: a client generated from an enum would
 * fail as soon as a code is added. The schema `ErrorCode` lists the codes that exist.
 */
const errorBounds = {
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

const errorText = {
  description: 'One error of a request.',
  schema: errorRecordSchema,
  bounds: errorBounds,
  example: { ...errorRecord('VALUE_TOO_HIGH', { max: pageSize.max }, 'limit') },
};

export const schemas = {
  ...Object.fromEntries(
    listings.map(({ name, result: { of } }) => [of, component(of, listingTexts[name].record)]),
  ),
  ...Object.fromEntries(listings.map(({ name, result: { of } }) => [`${of}sPage`, page(name, of)])),
  ErrorRecord: component('ErrorRecord', errorText),
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
      errors: {
        type: 'array',
        description: 'One for each invalid parameter, the first 20 at most, or one for any other cause.',
        minItems: 1,
        maxItems: maxErrors,
        items: ref('schemas', 'ErrorRecord'),
      },
    },
  },
};
