/** API keys in a request: where they are, and how a request is shown without them. */
import { keyPattern } from '@partner-network/contract/environments';
import { holdsKey, maskKeys } from '../lib/text.ts';

const everyKey = new RegExp(keyPattern, 'g');
const cursorParameter = /^[?&]cursor=[\w.~-]*$/;

export interface KeysInRequest {
  readonly inAuthorization: readonly string[];
  readonly elsewhere: readonly string[];
}

/** All texts of the form of a key in the head of a request. */
export function keysIn(url: string, rawHeaders: readonly string[]): KeysInRequest {
  const inAuthorization: string[] = [];
  const elsewhere = [...(decoded(url).match(everyKey) ?? [])];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const found = decoded(rawHeaders[index + 1]!).match(everyKey) ?? [];
    (rawHeaders[index]!.toLowerCase() === 'authorization' ? inAuthorization : elsewhere).push(...found);
  }
  return { inAuthorization, elsewhere };
}

/** A path with its query, keys masked and cut to length. A cursor is shown, although it looks like a secret. */
export function shownTarget(target: string, characters: number): string {
  const parts = target.split(/(?=[?&])/).map((part) => {
    const text = holdsKey(decoded(part)) ? decoded(part) : part;
    return cursorParameter.test(text) && !holdsKey(text) ? text : maskKeys(text);
  });
  // A copy, because a part of a string keeps the whole string in memory.
  return Buffer.from(parts.join('').slice(0, characters)).toString();
}

/** Resolves percent-encoding where it is valid. */
function decoded(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}
