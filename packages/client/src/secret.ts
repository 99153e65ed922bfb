/** Replaces the key wherever others might read it. */
const mask = '[API key]';

/** A shorter text is a test's placeholder, which would be masked in unrelated words. */
const minKeyLength = 16;

export function withoutKey(text: string, apiKey: string): string {
  return apiKey.length < minKeyLength ? text : text.split(apiKey).join(mask);
}

/** Far more than any real chain of causes; ends a chain that contains itself. */
const maxCauses = 10;

/**
 * A copy of an error without the key: the error of a `fetch` may hold the request, and so the key. Copies the
 * innermost cause, because undici's outermost error says only "fetch failed".
 */
export function safeCause(error: unknown, apiKey: string, depth = 0): Error & { code?: string } {
  const { message, name, code, stack, cause } = Object(error);
  if (cause instanceof Error && depth < maxCauses) return safeCause(cause, apiKey, depth + 1);
  const isText = (text: unknown) => typeof text === 'string' && text !== '';
  const reason = [error, message, name].find(isText) ?? 'unknown reason';
  const copy: Error & { code?: string } = new Error(withoutKey(reason, apiKey));
  for (const [field, text] of Object.entries({ name, code, stack })) {
    if (isText(text)) Object.assign(copy, { [field]: withoutKey(text, apiKey) });
  }
  return copy;
}
