import { authBounds } from '@partner-network/common/bounds/service';
import type { KeyOnFile } from '@partner-network/store/port';

export type KeyCache<Key = KeyOnFile> = ReturnType<typeof createKeyCache<Key>>;

/**
 * Caches good keys for half a second, which saves a database query and a digest per request. A revocation
 * must count within one second. Refused keys are not cached, so response times reveal nothing about them.
 */
export function createKeyCache<Key>(
  isGood: (key: Key) => boolean,
  elapsedMs: () => number = () => performance.now(),
) {
  const cache = new Map<string, Key>();
  let clearedMs = Number.NEGATIVE_INFINITY;

  return {
    /** The stored key of this text, if it was loaded within the last `keyCacheMs` and was good then. */
    get(text: string): Key | undefined {
      const now = elapsedMs();
      // Clears the whole cache at once, so entries need no individual timestamps.
      if (now - clearedMs >= authBounds.keyCacheMs || cache.size >= authBounds.keyCacheEntries) {
        cache.clear();
        clearedMs = now;
      }
      return cache.get(text);
    },

    /** Loads a key, and caches it if it is good. */
    async load(text: string, find: () => Promise<Key | undefined>): Promise<Key | undefined> {
      // A result is as old as its query: if that was sent before the last clearing, it is not cached.
      const sentMs = elapsedMs();
      const key = await find();
      // Expiry is checked on every request: it passes without a database write.
      if (key !== undefined && isGood(key) && sentMs >= clearedMs) cache.set(text, key);
      return key;
    },
  };
}

/** Whether a partner's key may be cached. */
export function isGoodKey({ isRevoked, isPartnerDisabled }: KeyOnFile): boolean {
  return !isRevoked && !isPartnerDisabled;
}
