/** What holds for every value that is sent, as JSON Schema. */
import type { FieldSchema } from '../records.ts';

/** A cursor is base64url without padding. */
export const cursorText = '^[A-Za-z0-9_-]+$';

const addressText = '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#]\\S*$';

export const exampleCursor =
  'AfD5TgmJOnp1QN8iRH4Qwyi6EjZbylHRpo9XPnMqeNRF7pjmUHlKGv_hUpK_GTG_xVR6xs6-TDFJG-Xd---GEG_X7XDTM0rqsbYYsA';

/**
 * Adds to a schema what is true of the values that are sent, even if an import is less strict. Times have no
 * pattern or length: generators for Python and C# fail on them. Texts have no pattern against control
 * characters: mocks would make unreadable values from it.
 */
export function asSent(schema: FieldSchema): FieldSchema {
  if (schema.type === 'integer')
    return { ...schema, format: (schema.maximum ?? 0) < 2 ** 31 ? 'int32' : 'int64' };
  if (schema.format !== 'uri') return schema;
  // Addresses are sent as they were imported, including characters that RFC 3986 does not allow.
  const { format: _, ...address } = schema;
  return { ...address, pattern: addressText };
}
