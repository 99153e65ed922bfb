import { type AnswerFacts, ApiError, apiError } from './errors.ts';
import type { ErrorRecord } from './wire.ts';

/** Far larger than any page. Keeps an endless answer of another server from filling the memory. */
const maxBodyBytes = 64 * 1_024 * 1_024;

export interface Answer {
  readonly items: readonly unknown[];
  /** Empty on the last page. */
  readonly cursor: string;
}

/** Reads the body, or null if it is too long. Throws on invalid UTF-8, which `text()` would replace. */
export async function bodyOf(response: Response): Promise<string | null> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = response.body?.getReader();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxBodyBytes) return null;
    text += decoder.decode(value, { stream: true });
  }
}

/** The page in the JSON of a 2xx answer. */
export function pageIn(json: unknown, name: string, facts: AnswerFacts): Answer {
  const { [name]: items, cursor } = Object(json);
  const isList = Array.isArray(items) && items.every((item) => Object(item) === item);
  if (isList && typeof (cursor ?? '') === 'string') return { items, cursor: cursor ?? '' };
  throw new ApiError(facts, [], `the response is not a page of ${name}; check baseUrl.`);
}

const notOurs = 'the response is not from the service; check baseUrl and any proxy in between.';

/** The error for an answer that is not 2xx; `text` is null if its body did not arrive. */
export function errorIn(text: string | null, apiKey: string, facts: AnswerFacts): ApiError {
  const otherwise = text === null ? 'the body of the response did not arrive.' : notOurs;
  return apiError(facts, errorRecordsIn(text ?? '', apiKey), otherwise);
}

/** The error records of the service; empty if another server answered. A proxy may have echoed the key. */
function errorRecordsIn(text: string, apiKey: string): ErrorRecord[] {
  try {
    const { errors } = JSON.parse(text, (_, value) =>
      typeof value === 'string' ? withoutKey(value, apiKey) : value,
    );
    return errors.map(recordOf).filter(({ code }: Partial<ErrorRecord>) => code !== undefined);
  } catch {
    return [];
  }
}

const fields = ['category', 'code', 'detail', 'field'];

/** Only the known fields, and only strings: another field could hold the key in its name. */
function recordOf(value: unknown): Partial<ErrorRecord> {
  const entries = Object.entries(Object(value));
  return Object.fromEntries(
    entries.filter(([name, text]) => fields.includes(name) && typeof text === 'string'),
  );
}

const mask = '[API key]';

/** A shorter text is a test's placeholder, which would be masked in unrelated words. */
const minKeyLength = 16;

/** A text that others might read, without the key. */
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
