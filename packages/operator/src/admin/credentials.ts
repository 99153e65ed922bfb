/** Identifies the key of a request to the administrative API, and checks its role. */

import { adminKeyPrefixes } from '@partner-network/contract/environments';
import { type AdminRole, mayUse } from '@partner-network/contract/permissions';
import type { Exchange } from '@partner-network/http/handle';
import { Refusal, refusal, refusalSaying } from '@partner-network/http/refusal';
import {
  createKeyCache,
  environmentOfAdminKey,
  identifyAs,
  requireValid,
} from '@partner-network/service/auth';
import type { Journal } from '@partner-network/service/receipts';
import type { AdminKeyOnFile, AuditEntry, Store } from '@partner-network/store/port';

/** Who makes a request: a program or a person with a key, or a person with an account at the provider. */
export interface Caller {
  readonly role: AdminRole;
  /** How the audit log names the caller. */
  readonly actor: string;
  /** What audit entries also say of the caller: the account of a person. */
  readonly details: AuditEntry['details'];
  readonly keyId?: string;
}

export function callerOf({ id, role }: AdminKeyOnFile): Caller {
  return { role, actor: `admin-key:${id}`, details: {}, keyId: id };
}

/** Finds the stored key that headers carry, or refuses. Without headers, it reads those of the request. */
export type Identify = (exchange: Exchange, rawHeaders?: readonly string[]) => Promise<Caller>;

export function createIdentify(
  { findAdminKey: find, environment }: Store,
  { noteUse }: Pick<Journal, 'noteUse'>,
): Identify {
  const cache = createKeyCache<AdminKeyOnFile>();
  const kind = { prefixes: adminKeyPrefixes, environmentOf: environmentOfAdminKey, find };
  return async (exchange, rawHeaders = exchange.rawHeaders) => {
    const key = await identifyAs(kind, rawHeaders, cache, environment);
    // Also for a key that is refused after this, so that the use of a leaked key can be traced.
    exchange.key = { id: key.id };
    requireValid(key, Date.now());
    noteUse(key.id, Date.now());
    return callerOf(key);
  };
}

export function requireRole({ role }: Pick<Caller, 'role'>, needed: AdminRole): void {
  if (!mayUse(role, needed)) throw refusal('INSUFFICIENT_ROLE', { role: needed, own: role });
}

/** The words for partners would send somebody with a wrong key to the wrong people. */
const ownWords: Readonly<Record<string, Refusal | undefined>> = {
  UNAUTHORIZED: refusalSaying(
    'UNAUTHORIZED',
    'Send exactly one header "Authorization: Bearer <key>" with a complete administrative key, which ' +
      "begins with pna_. A partner's key does not work here.",
  ),
  API_KEY_REVOKED: refusalSaying(
    'API_KEY_REVOKED',
    'Ask the operator for another administrative key: this key was revoked.',
  ),
  API_KEY_EXPIRED: refusalSaying(
    'API_KEY_EXPIRED',
    'Ask the operator for another administrative key: this key has expired.',
  ),
};

/** What a request throws, in the words of this service. */
export function inOwnWords(error: unknown): unknown {
  return (error instanceof Refusal && ownWords[error.code]) || error;
}
