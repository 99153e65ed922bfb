import { bounds } from '../bounds.ts';
import type { KeyOnFile } from '../store/port.ts';

export interface KnownKeys {
  /** The key, if it was asked for a moment ago, and is good or not known yet not to be. */
  get(text: string): Promise<KeyOnFile | undefined> | undefined;
  /** Remembers what was asked. */
  add(text: string, asked: Promise<KeyOnFile | undefined>): void;
}

/**
 * Spares a busy partner's key the way to the database and the digest, for half of the second within which a
 * revocation must count. Those who come while a key is looked up share the answer. One that is refused is
 * forgotten: it costs the same every time, so that the time of an answer says nothing about it.
 */
export function createKnownKeys(elapsedMs: () => number = () => performance.now()): KnownKeys {
  const known = new Map<string, Promise<KeyOnFile | undefined>>();
  let sinceMs = Number.NEGATIVE_INFINITY;

  return {
    get(text) {
      const now = elapsedMs();
      // All at once: none is older than the oldest, and there is no age to keep of each.
      if (now - sinceMs >= bounds.keyKnownMs || known.size >= bounds.keysKnown) {
        known.clear();
        sinceMs = now;
      }
      return known.get(text);
    },

    add(text, asked) {
      known.set(text, asked);
      const forget = () => known.delete(text);
      asked.then((key) => isGood(key) || forget(), forget);
    },
  };
}

/** When it expires is looked at each time, for that comes without anybody writing it. */
function isGood(key: KeyOnFile | undefined): boolean {
  return key !== undefined && !key.isRevoked && !key.isPartnerDisabled;
}
