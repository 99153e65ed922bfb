/**
 * Compares answers by content. White space, escapes such as `\/`, and the order of fields carry no meaning in
 * JSON, so a comparison of bodies would blame correct deployments and miss leaks.
 */
import type { Answer } from './send.ts';

const withSortedFields = (_: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((name) => [name, value[name as never]]),
      )
    : value;

/** The same text for JSON with the same content. The text of a value is a part of the text around it. */
export const canonical = (json: unknown) => JSON.stringify(json, withSortedFields);

/** The content of a body. If it is not JSON, this is its text. */
export function contentOf({ json, text }: Answer): string {
  return json === undefined ? text : canonical(json);
}
