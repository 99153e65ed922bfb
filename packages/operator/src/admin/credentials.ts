/** Identifies the key of a request to the administrative API, and checks its role. */

import { adminKeyPrefixes } from '@partner-network/contract/environments';
import { type AdminRole, mayUse } from '@partner-network/contract/permissions';
import { Refusal, refusal } from '@partner-network/http/refusal';
import { environmentOfAdminKey } from '@partner-network/service/auth/api-key';
import { createKeyCache, identifyAs } from '@partner-network/service/auth/authenticate';
import type { AdminKeyOnFile, Store } from '@partner-network/store/port';
import { adminRefusal } from './refusals.ts';

/** Returns a function that finds the stored key of a request, or refuses. */
export function createIdentification({ findAdminKey: find, environment }: Store) {
  const cache = createKeyCache<AdminKeyOnFile>();
  const kind = { prefixes: adminKeyPrefixes, environmentOf: environmentOfAdminKey, find };
  return (rawHeaders: readonly string[]) => identifyAs(kind, rawHeaders, cache, environment);
}

export function requireRole({ role }: AdminKeyOnFile, needed: AdminRole): void {
  if (!mayUse(role, needed)) throw adminRefusal('INSUFFICIENT_ROLE', { role: needed, own: role });
}

/** The words for partners would send somebody with a wrong key to the wrong people. */
const ownWords = new Map(
  Object.entries({
    UNAUTHORIZED:
      'Send exactly one header "Authorization: Bearer <key>" with a complete administrative key, which ' +
      "begins with pna_. A partner's key does not work here.",
    API_KEY_REVOKED: 'Ask the operator for another administrative key: this key was revoked.',
    API_KEY_EXPIRED: 'Ask the operator for another administrative key: this key has expired.',
  } as const).map(([code, detail]) => {
    const [error] = refusal(code as 'UNAUTHORIZED').errors;
    return [code, new Refusal([{ ...error, detail }])];
  }),
);

/** What a request throws, in the words of this service. */
export function inOwnWords(error: unknown): unknown {
  return (error instanceof Refusal && ownWords.get(error.errors[0].code)) || error;
}
