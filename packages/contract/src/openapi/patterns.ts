/** What holds for every value that is sent, as JSON Schema. */
import type { FieldSchema } from '../records.ts';

/** Strings have no control characters: imports refuse them. */
export const cleanText = '^[^\\x00-\\x1f\\x7f]*$';

/** A cursor is base64url without padding. */
export const cursorText = '^[A-Za-z0-9_-]+$';

/** Times always have milliseconds and `Z`. */
const timeLength = '2025-01-06T09:01:00.000Z'.length;
const timeText = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$';

const addressText = '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#]\\S*$';

export const exampleCursor =
  'AfD5TgmJOnp1QN8iRH4Qwyi6EjZbylHRpo9XPnMqeNRF7pjmUHlKGv_hUpK_GTG_xVR6xs6-TDFJG-Xd---GEG_X7XDTM0rqsbYYsA';

/** Adds to a schema what is true of the values that are sent, even if an import is less strict. */
export function asSent(schema: FieldSchema): FieldSchema {
  if (schema.type === 'integer')
    return { ...schema, format: (schema.maximum ?? 0) < 2 ** 31 ? 'int32' : 'int64' };
  if (schema.type !== 'string' || schema.enum !== undefined) return schema;
  if (schema.format === 'date-time')
    return { ...schema, minLength: timeLength, maxLength: timeLength, pattern: timeText };
  if (schema.format === 'uri') {
    // Addresses are sent as they were imported, including characters that RFC 3986 does not allow.
    const { format: _, ...address } = schema;
    return { ...address, pattern: addressText };
  }
  return { ...schema, pattern: schema.pattern ?? cleanText };
}
