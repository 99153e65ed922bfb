/** What a program is told by its words. All that is wrong with them is said at once, in a sentence each. */

/** The flags that there are, each without its dashes: with a value, or only there or not. */
export type Options<Name extends string> = Readonly<Record<Name, 'value' | 'switch'>>;

/** Reads one flag after the other; where one is wrong that is noted, and what is unless given is given. */
export interface Given<Name extends string> {
  has(name: Name): boolean;
  text(name: Name): string | undefined;
  wholeNumber(name: Name, from: number, to: number, otherwise: number): number;
  oneOf<Choice extends string>(name: Name, choices: readonly Choice[], otherwise: Choice): Choice;
  /** For what is wrong in any other way. */
  refuse(sentence: string): void;
}

export interface Read<Flags> {
  readonly flags: Flags;
  readonly isHelp: boolean;
  readonly problems: readonly string[];
}

export function readWords<Name extends string, Flags>(
  words: readonly string[],
  options: Options<Name>,
  readFlags: (given: Given<Name>) => Flags,
): Read<Flags> {
  const { values, problems } = sortWords(words, { ...options, help: 'switch' });
  const given: Given<Name> = {
    has: (name) => values.has(name),
    text: (name) => values.get(name),
    wholeNumber: (name, from, to, otherwise) => {
      const text = values.get(name);
      if (text === undefined) return otherwise;
      if (/^\d{1,15}$/.test(text) && Number(text) >= from && Number(text) <= to) return Number(text);
      problems.push(`--${name} must be a whole number, ${from} to ${to}.`);
      return otherwise;
    },
    oneOf: (name, choices, otherwise) => {
      const text = values.get(name);
      const chosen = choices.find((choice) => choice === text);
      if (text !== undefined && chosen === undefined)
        problems.push(`--${name} must be ${choices.join(' or ')}.`);
      return chosen ?? otherwise;
    },
    refuse: (sentence) => problems.push(sentence),
  };
  return { flags: readFlags(given), isHelp: values.has('help'), problems };
}

function sortWords(words: readonly string[], options: Readonly<Record<string, 'value' | 'switch'>>) {
  const values = new Map<string, string>();
  const problems: string[] = [];
  const isValue = (word: string | undefined) => word !== undefined && !word.startsWith('--');
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!;
    const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    const kind = Object.hasOwn(options, name) ? options[name] : undefined;
    // What follows a flag that there is not is taken for its value, of which there is nothing more to say.
    const isFollowed = name !== '' && kind !== 'switch' && value === undefined && isValue(words[index + 1]);
    if (isFollowed) index += 1;
    const said = isFollowed ? words[index] : value;
    if (kind === undefined) problems.push(`There is no flag ${JSON.stringify(word)}: see --help.`);
    else if (kind === 'switch' && said !== undefined) problems.push(`--${name} takes no value.`);
    else if (kind === 'value' && said === undefined) problems.push(`--${name} needs a value.`);
    else values.set(name, said ?? '');
  }
  return { values, problems };
}
