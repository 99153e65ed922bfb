/** Ways into an OpenAPI document. */

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into by paths that its test knows.
export type Json = any;

/** What a part refers to, or the part itself. */
export function resolve(document: Json, part: Json): Json {
  if (part.$ref === undefined) return part;
  const steps: string[] = part.$ref.split('/').slice(1);
  return steps.reduce((place, step) => place[step], document);
}

export function examplesOf(response: Json): [name: string, example: { summary: string; value: Json }][] {
  return Object.entries(response.content['application/json'].examples);
}
