/** Who sends a request of the administrative API, and whether the role allows it. */
import { type AdminRole, mayUse } from '@partner-network/contract/admin/roles';
import { adminKeyPrefixes } from '@partner-network/contract/environments';
import { environmentOfAdminKey } from '@partner-network/service/auth/api-key';
import { identifyAs } from '@partner-network/service/auth/authenticate';
import { createKeyCache } from '@partner-network/service/auth/key-cache';
import type { AdminKeyOnFile, Store } from '@partner-network/store/port';
import { adminRefusal } from './refusals.ts';

/** Returns a function that finds the stored key of a request, or refuses. */
export function createIdentification({ findAdminKey: find, environment }: Store) {
  const cache = createKeyCache<AdminKeyOnFile>(({ isRevoked }) => !isRevoked);
  const kind = { prefixes: adminKeyPrefixes, environmentOf: environmentOfAdminKey, find };
  return (rawHeaders: readonly string[]) => identifyAs(kind, rawHeaders, cache, environment);
}

export function requireRole({ role }: AdminKeyOnFile, needed: AdminRole): void {
  if (!mayUse(role, needed)) throw adminRefusal('INSUFFICIENT_ROLE', { role: needed, own: role });
}
