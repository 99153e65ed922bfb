/** A sentence with its `{name}`s filled in. */
export function fillIn(
  sentence: string,
  facts: Readonly<Record<string, string | number | undefined>>,
): string {
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(facts[name]));
}

export function capitalized(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

/** `1, 2 and 3`. */
export function inWords(list: readonly number[]): string {
  return `${list.slice(0, -1).join(', ')} and ${list.at(-1)}`;
}
