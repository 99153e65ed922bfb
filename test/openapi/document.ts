/** Finds parts of an OpenAPI document. */

// biome-ignore lint/suspicious/noExplicitAny: tests know the paths of the document that they read.
export type Json = any;

/** The part that a `$ref` refers to, or the part itself. */
export function resolve(document: Json, part: Json): Json {
  if (part.$ref === undefined) return part;
  const steps: string[] = part.$ref.split('/').slice(1);
  return steps.reduce((place, step) => place[step], document);
}

export function examplesOf(response: Json): [name: string, example: { summary: string; value: Json }][] {
  return Object.entries(response.content['application/json'].examples);
}
