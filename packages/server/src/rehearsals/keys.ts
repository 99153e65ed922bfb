/** API keys in a request: where they are, and how a request is shown without them. */
import { keyPattern } from '@partner-network/contract/environments';
import { holdsKey, maskKeys } from '../lib/text.ts';

const everyKey = new RegExp(keyPattern, 'g');

/** All texts of the form of a key in the head of a request. */
export function keysIn(url: string, rawHeaders: readonly string[]) {
  const inAuthorization: string[] = [];
  const elsewhere: string[] = [...(decoded(url).match(everyKey) ?? [])];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const found = decoded(rawHeaders[index + 1]!).match(everyKey) ?? [];
    (rawHeaders[index]!.toLowerCase() === 'authorization' ? inAuthorization : elsewhere).push(...found);
  }
  return { inAuthorization, elsewhere };
}

/** A path with its query, with keys masked and cut to length. A cursor is shown, although it looks secret. */
export function shownTarget(target: string, characters: number): string {
  const parts = target.split(/(?=[?&])/).map((part) => {
    if (holdsKey(decoded(part))) return maskKeys(decoded(part));
    return /^[?&]cursor=/.test(part) ? part : maskKeys(part);
  });
  // A copy, because a part of a string keeps the whole string in memory.
  return Buffer.from(parts.join('').slice(0, characters)).toString();
}

/** Decodes percent-encoding where it is valid. */
function decoded(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}
