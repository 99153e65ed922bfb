/** The errors of the administrative API that the partners' API does not have. */
import type { CatalogueEntry } from '../errors.ts';
import { adminLimits } from '../limits.ts';

export const adminErrorCatalogue = {
  INSUFFICIENT_ROLE: {
    status: 403,
    category: 'AUTHENTICATION_ERROR',
    when: 'The key does not have a role that may send this request.',
    detail: 'Use a key with the role {role}: this key has the role {own}.',
  },
  INVALID_TIME: {
    status: 400,
    category: 'INVALID_REQUEST_ERROR',
    when: 'A time is not in the format of RFC 3339, in UTC, or an expiry is not in the future.',
    detail: 'Write {field} in UTC in the format of RFC 3339, for example 2026-01-31T08:00:00.000Z.',
  },
  CONFIRMATION_MISMATCH: {
    status: 400,
    category: 'INVALID_REQUEST_ERROR',
    when: 'An erasure is not confirmed by the id of its customer.',
    detail:
      'Set confirm to the customer id of the path: this deletes the balances and grants of the customer.',
  },
  ID_CONFLICT: {
    status: 409,
    category: 'INVALID_REQUEST_ERROR',
    when: 'The id belongs to something else, or to a grant that has ended.',
    detail: 'Choose another id: {what}.',
  },
  KEY_NOT_ACTIVE: {
    status: 409,
    category: 'INVALID_REQUEST_ERROR',
    when: 'A key that is revoked or expired cannot be replaced.',
    detail: 'Create a key with partner_id and scopes: the key to replace is {status}.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    category: 'INVALID_REQUEST_ERROR',
    when: 'The body is too large.',
    detail: `Shorten the body to at most ${adminLimits.bodyBytes / 1024} KiB.`,
  },
  BATCH_TOO_LARGE: {
    status: 413,
    category: 'INVALID_REQUEST_ERROR',
    when: 'A batch has too many lines or bytes. Bytes are counted after they are unpacked.',
    detail: `Send several batches, each of at most ${adminLimits.batchLines} lines and ${adminLimits.batchBytes / 1024 / 1024} MiB. Nothing was written.`,
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    category: 'INVALID_REQUEST_ERROR',
    when: 'The body has another type or encoding than the request takes.',
    detail: 'Send the body as {types}.',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type AdminErrorCode = keyof typeof adminErrorCatalogue;
