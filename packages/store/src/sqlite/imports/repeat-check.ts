import { ingestBounds } from '@partner-network/common/bounds/ingest';

/** Characters at the end of an owner and of an id that are hashed. Ids that differ usually differ there. */
const hashed = 12;

/**
 * Finds out whether keys may repeat, so that SQLite need not sort them: that takes 8 % of the CPU of an
 * unsorted import, this 4 %. Keeps a hash of 64 bits for each key, for a limited number of keys. Equal hashes
 * need not be equal keys.
 */
export function createRepeatCheck() {
  let slots = new Uint32Array(2 * 4_096);
  let count = 0;
  let mayRepeat = false;

  /** Returns false if the hash is there already. A slot is empty if its second number is 0. */
  function place(into: Uint32Array, high: number, low: number): boolean {
    const mask = into.length - 2;
    let at = (low << 1) & mask;
    while (into[at + 1] !== 0) {
      if (into[at + 1] === low && into[at] === high) return false;
      at = (at + 2) & mask;
    }
    into[at] = high;
    into[at + 1] = low;
    return true;
  }

  function grow(): void {
    const larger = new Uint32Array(slots.length * 2);
    for (let at = 0; at < slots.length; at += 2) {
      if (slots[at + 1] !== 0) place(larger, slots[at]!, slots[at + 1]!);
    }
    slots = larger;
  }

  /** Gives up: the database has to search. */
  function giveUp(): void {
    mayRepeat = true;
    slots = new Uint32Array(0);
  }

  return {
    giveUp,
    add: (owner: string, id: string): void => {
      if (mayRepeat) return;
      let high = owner.length;
      let low = id.length;
      for (let index = Math.max(0, owner.length - hashed); index < owner.length; index += 1) {
        high = Math.imul(high ^ owner.charCodeAt(index), 0x01000193);
      }
      for (let index = Math.max(0, id.length - hashed); index < id.length; index += 1) {
        const code = id.charCodeAt(index);
        low = Math.imul(low ^ code, 0x01000193);
        high = Math.imul(high + code, 0x85ebca6b);
      }
      // Mixes the owner into both halves.
      low = Math.imul(low ^ high ^ (high >>> 15), 0x2c1b3c6d);
      count += 1;
      if (count * 4 > slots.length) grow();
      if (count > ingestBounds.importHashedKeys || !place(slots, high >>> 0, low >>> 0 || 1)) giveUp();
    },
    mayRepeat: () => mayRepeat,
  };
}
