/** What takes the key's place wherever others might read it. */
const mask = '[API key]';

/** What is shorter is no key but a test's stand-in, and in many a text by chance. */
const shortestKey = 16;

export function withoutKey(text: string, apiKey: string): string {
  return apiKey.length < shortestKey ? text : text.split(apiKey).join(mask);
}

/** Far over any real chain; one that leads back to itself ends here. */
const maxCauses = 10;

/**
 * What went wrong, told anew: the error of a `fetch` may hold the request, and so the key. Of a chain the
 * innermost tells most; undici's outermost says only "fetch failed".
 */
export function retold(cause: unknown, apiKey: string, depth = 0): Error & { code?: string } {
  const { message, name, code, stack, cause: inner } = Object(cause);
  if (inner instanceof Error && depth < maxCauses) return retold(inner, apiKey, depth + 1);
  const isText = (text: unknown) => typeof text === 'string' && text !== '';
  const told: Error & { code?: string } = new Error(
    withoutKey([cause, message, name].find(isText) ?? 'it gave no reason', apiKey),
  );
  for (const [what, text] of Object.entries({ name, code, stack })) {
    if (isText(text)) Object.assign(told, { [what]: withoutKey(text, apiKey) });
  }
  return told;
}
