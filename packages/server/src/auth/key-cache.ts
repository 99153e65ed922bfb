import { authBounds } from '../bounds/auth.ts';
import type { KeyOnFile } from '../store/port.ts';

export interface KnownKeys {
  /** The key, if it was good when it was asked for a moment ago. */
  get(text: string): KeyOnFile | undefined;
  /** Looks a key up, and remembers it if it is good. */
  ask(text: string, look: () => Promise<KeyOnFile | undefined>): Promise<KeyOnFile | undefined>;
}

/**
 * Spares a busy partner's key the way to the database and the digest, for half of the second within which a
 * revocation must count. One that is refused is not remembered: it costs the same every time, so that the
 * time of an answer says nothing about it.
 */
export function createKnownKeys(elapsedMs: () => number = () => performance.now()): KnownKeys {
  const known = new Map<string, KeyOnFile>();
  let sinceMs = Number.NEGATIVE_INFINITY;

  return {
    get(text) {
      const now = elapsedMs();
      // All at once: none is older than the oldest, and there is no age to keep of each.
      if (now - sinceMs >= authBounds.keyKnownMs || known.size >= authBounds.keysKnown) {
        known.clear();
        sinceMs = now;
      }
      return known.get(text);
    },

    async ask(text, look) {
      // What is told is as old as the question.
      const askedMs = elapsedMs();
      const key = await look();
      if (key !== undefined && isGood(key) && askedMs >= sinceMs) known.set(text, key);
      return key;
    },
  };
}

/** When it expires is looked at each time, for that comes without anybody writing it. */
function isGood({ isRevoked, isPartnerDisabled }: KeyOnFile): boolean {
  return !isRevoked && !isPartnerDisabled;
}
