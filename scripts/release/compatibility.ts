/**
 * Finds changes of an OpenAPI document that can break a correct client of an earlier one: what an operation
 * said must stay equal, and only what a client ignores may be added. We wrote it because the tools on npm
 * miss breaks: api-smart-diff 1.0.6 accepts a removed response field and a response field of another type,
 * and openapi-diff 0.24.1 reads only 3.0.
 */
import { isDeepStrictEqual } from 'node:util';

// biome-ignore lint/suspicious/noExplicitAny: a part of a document, which the parser has checked.
type Part = any;

interface Break {
  /** What broke, in a sentence. */
  readonly text: string;
  /** Whether the operation was beta in the earlier document, which allows the change. */
  readonly isOfBeta: boolean;
}

/** The breaks of all operations, and of what they share. */
export function breaksBetween(oldDocument: Part, nextDocument: Part): Break[] {
  const next = contentOf(nextDocument);
  return Object.entries<Part>(contentOf(oldDocument)).flatMap(([name, old]) =>
    differences([name], old, next[name]).map((text) => ({ text, isOfBeta: old['x-stability'] === 'beta' })),
  );
}

/** Texts and examples for people. A client does not depend on them. */
const annotations = /^(title|summary|description|examples?|deprecated|x-codeSamples|x-scopes)$/;

/** The operations by method and path, with parameters by name, and what they share. */
function contentOf(document: Part): Part {
  const { servers, paths, components } = resolved(document, document);
  const operations = Object.entries<Part>(paths).flatMap(([path, methods]) =>
    Object.entries<Part>(methods).map(([method, operation]) => [
      `${method.toUpperCase()} ${path}`,
      { ...operation, parameters: byName(operation.parameters.map((item: Part) => [item.name, item])) },
    ]),
  );
  return {
    ...byName(operations),
    'The base path': byName(servers.map(({ url }: Part) => [new URL(url).pathname, true])),
    ErrorCode: byName(components.schemas.ErrorCode.enum.map((code: string) => [code, true])),
    securitySchemes: components.securitySchemes,
  };
}

const byName = (entries: Part): Part => Object.fromEntries(entries);

/** A copy without annotations, with the content of every reference in its place. It has no circles. */
function resolved(document: Part, value: Part, isOfFields = false): Part {
  if (Array.isArray(value)) return value.map((item) => resolved(document, item));
  if (typeof value !== 'object' || value === null) return value;
  if (typeof value.$ref === 'string') {
    const names: string[] = value.$ref.slice('#/'.length).split('/');
    return resolved(
      document,
      names.reduce((part, name) => part[name], document),
    );
  }
  // A field may have the name of an annotation.
  const kept = Object.entries(value).filter(([name]) => isOfFields || !annotations.test(name));
  return byName(kept.map(([name, part]) => [name, resolved(document, part, name === 'properties')]));
}

/** One sentence for each difference that can break a client. */
function differences(place: readonly string[], old: Part, next: Part): string[] {
  const where = place.join(': ');
  if (isDeepStrictEqual(old, next) || isLooser(place, old, next)) return [];
  if (next === undefined) return [`${where} was removed.`];
  if (typeof old !== 'object' || Array.isArray(old)) {
    return [`${where} was ${JSON.stringify(old)}, and is ${JSON.stringify(next)}.`];
  }
  const added = Object.keys(next).filter((name) => !(name in old) && !mayBeAdded(place, name, next[name]));
  return [
    ...Object.keys(old).flatMap((name) => differences([...place, name], old[name], next[name])),
    ...added.map((name) => `${where}: ${name} is new.`),
  ];
}

/** Whether a client of the earlier document ignores what is new here. */
function mayBeAdded(place: readonly string[], name: string, part: Part): boolean {
  if (place.length === 1) return !place[0]!.includes(' /');
  switch (place.at(-1)) {
    case 'properties':
    case 'headers':
      return true;
    case 'responses':
      return /^[45]/.test(name);
    case 'parameters':
      return part.required !== true;
    default:
      return false;
  }
}

/** Whether a bound takes more of what the client sends, or allows less of what it receives. */
function isLooser(place: readonly string[], old: Part, next: Part): boolean {
  const name = place.at(-1)!;
  const isSent = place.includes('parameters');
  if (name === 'requests') return next > old;
  if (name === 'required' && Array.isArray(next)) return old.every((field: string) => next.includes(field));
  if (/^max/.test(name)) return isSent ? next > old : next < old;
  return /^min/.test(name) && (isSent ? next < old : next > old);
}
