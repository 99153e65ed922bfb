/** Replaces each `{name}` of a sentence with its value. */
export function fillIn(
  sentence: string,
  facts: Readonly<Record<string, string | number | undefined>>,
): string {
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(facts[name]));
}

export function capitalized(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
