/** Who sends a request of the administrative API, and whether the role allows it. */
import { type AdminRole, mayUse } from '@partner-network/contract/admin/roles';
import { adminKeyPrefixes, type Environment } from '@partner-network/contract/environments';
import { refusal } from '@partner-network/http/refusal';
import { digestOfKey, environmentOfAdminKey } from '@partner-network/service/auth/api-key';
import { bearerOf } from '@partner-network/service/auth/authenticate';
import { createKeyCache } from '@partner-network/service/auth/key-cache';
import type { AdminKeyOnFile, AdminKeys } from '@partner-network/store/port';
import { adminRefusal } from './refusals.ts';

/** Returns a function that finds the stored key of a request, or refuses. */
export function createIdentification(store: Pick<AdminKeys, 'findAdminKey'>, environment: Environment) {
  const cache = createKeyCache<AdminKeyOnFile>(({ isRevoked }) => !isRevoked);

  return async (rawHeaders: readonly string[]): Promise<AdminKeyOnFile> => {
    const text = bearerOf(rawHeaders);
    return cache.get(text) ?? find(text);
  };

  async function find(text: string): Promise<AdminKeyOnFile> {
    const keyEnvironment = environmentOfAdminKey(text);
    if (keyEnvironment === undefined) throw refusal('UNAUTHORIZED');
    if (keyEnvironment !== environment) {
      const facts = { environment, prefix: adminKeyPrefixes[environment] };
      throw refusal('API_KEY_ENVIRONMENT_MISMATCH', facts);
    }
    const key = await cache.load(text, () => store.findAdminKey(digestOfKey(text)));
    if (key === undefined) throw refusal('UNAUTHORIZED');
    return key;
  }
}

/** Refuses a stored key that is revoked or expired. */
export function requireWorking(key: AdminKeyOnFile): void {
  if (key.isRevoked) throw refusal('API_KEY_REVOKED');
  if (isExpired(key)) throw refusal('API_KEY_EXPIRED');
}

export function isExpired({ expiresAt }: AdminKeyOnFile): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= Date.now();
}

export function requireRole({ role }: AdminKeyOnFile, needed: AdminRole): void {
  if (!mayUse(role, needed)) throw adminRefusal('INSUFFICIENT_ROLE', { role: needed, own: role });
}
