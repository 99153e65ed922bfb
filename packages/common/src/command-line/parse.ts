import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isCleanText, suggest } from '../text.ts';
import { fileVariable, type Option, type Options, Problem, type Reader, type Values } from './options.ts';

/** Environment variables by name. */
type Variables = Readonly<Record<string, string | undefined>>;

interface Argument {
  readonly name: string;
  readonly help: string;
  readonly isOptional?: boolean;
  /** Checks the value. Without it, any text is valid. */
  readonly read?: Reader<unknown>;
}

/** What a command line may contain. */
export interface Syntax<O extends Options> {
  /** Words after the command's name. An optional one is the last. */
  readonly arguments?: readonly Argument[] | undefined;
  /** The words after `--`, which follow the arguments: a program that the command starts. */
  readonly program?: Argument | undefined;
  /** The flags, by their names without dashes. */
  readonly options: O;
  /** Rules between several values, checked once each value is valid by itself; one sentence per problem. */
  conflicts?(values: Values<O>, words: readonly string[]): string[];
}

/** Reads flags, arguments and variables; flags win. `values` is complete only if `problems` is empty. */
export function parseLine<O extends Options>(
  syntax: Syntax<O>,
  words: readonly string[],
  variables: Variables = {},
) {
  const { options, arguments: expected = [] } = syntax;
  const problems: string[] = [];
  const flagTexts = new Map<string, string[]>();
  const wrong = new Set<string>();
  const positionals: string[] = [];
  const extra: string[] = [];
  const types = Object.entries(options).map(([name, { valueName }]) => [
    name,
    { type: valueName === undefined ? 'boolean' : 'string', multiple: true } as const,
  ]);
  // Not strict: a strict parser throws at the first wrong flag, and all are reported at once.
  const parsing = { strict: false, allowPositionals: true, tokens: true } as const;
  const end = syntax.program === undefined ? -1 : words.indexOf('--');
  const own = end === -1 ? words : words.slice(0, end);
  const program = end === -1 ? [] : words.slice(end + 1);
  const { tokens } = parseArgs({ args: [...own], options: Object.fromEntries(types), ...parsing });

  const spaces = 'Put quotes around a value that contains spaces.';
  const remedy = syntax.program === undefined ? spaces : 'Put -- before the command to run.';
  let afterUnknown = -1;
  for (const token of tokens) {
    if (token.kind === 'positional') {
      const isExpected = positionals.push(token.value) <= expected.length;
      // A word after an unknown flag was meant as its value, so it is not reported a second time.
      if (!isExpected && token.index !== afterUnknown)
        extra.push(`Unexpected argument "${token.value}". ${remedy}`);
    }
    if (token.kind !== 'option') continue;
    if (!Object.hasOwn(options, token.name)) afterUnknown = token.index + 1;
    const problem = problemOfFlag(token, options, own[token.index]!);
    if (problem === undefined)
      flagTexts.set(token.name, [...(flagTexts.get(token.name) ?? []), token.value ?? '']);
    else {
      if (problem !== problems.at(-1)) problems.push(problem);
      wrong.add(token.name);
    }
  }

  const flags = new Set(flagTexts.keys());
  const resolved: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(options)) {
    if (wrong.has(name)) continue;
    const texts = flagTexts.get(name);
    const source = texts === undefined ? readVariable(name, option, variables) : { texts, name: `--${name}` };
    if (source instanceof Problem) {
      problems.push(source.sentence);
      continue;
    }
    const value = option.resolve(source.texts, flags);
    if (value instanceof Problem) problems.push(`${source.name} ${value.sentence}`);
    else resolved[name] = value;
  }

  const values = resolved as Values<O>;
  if (problems.length === 0) problems.push(...(syntax.conflicts?.(values, positionals) ?? []));
  // An empty argument comes from a script whose variable is not set.
  for (const [index, { name, isOptional, read }] of expected.entries()) {
    const text = positionals[index];
    const value = text && read?.(text);
    if (value instanceof Problem) problems.push(`${name} ${value.sentence}`);
    if (!text && !isOptional) problems.push(`${name} is missing.`);
  }
  problems.push(...extra);
  // A script whose variable is not set must not start something else.
  if (end !== -1 && !program[0]) problems.push(`${syntax.program!.name} is missing after --.`);
  return { values, arguments: [...positionals, ...program], problems };
}

/** The value of an option's variable, and how a problem names where the value is from. */
function readVariable(
  flag: string,
  { variable = '', isSecret, hasFile, mayBeEmpty }: Option<unknown>,
  variables: Variables,
): { readonly texts: readonly string[]; readonly name: string } | Problem {
  const file = fileVariable(variable);
  const value = variables[variable];
  const path = hasFile ? variables[file] : undefined;
  if (value !== undefined && path !== undefined)
    return new Problem(`${variable} and ${file} are both set. Unset one of them.`);
  // A secret that failed to arrive must not start the service with a default.
  if ((value ?? path) === '' && !mayBeEmpty)
    return new Problem(`${path === '' ? file : variable} is set but empty. Set it to a value, or unset it.`);
  if (path !== undefined) {
    const text = textOf(path);
    if (text instanceof Problem) return new Problem(`The file in ${file} ${text.sentence}`);
    return { texts: [text], name: `The content of the file in ${file}` };
  }
  return { texts: value ? [value] : [], name: value || isSecret ? variable : `--${flag}` };
}

/** The only line of a file. A problem repeats neither content nor path, which may be a secret by mistake. */
function textOf(path: string): string | Problem {
  try {
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (text === '') return new Problem('is empty.');
    return isCleanText(text) ? text : new Problem('must contain one line of text.');
  } catch (error) {
    return new Problem(`cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];
type FlagToken = Extract<Token, { readonly kind: 'option' }>;

/** `word` is what was typed: `-json` has a token for each letter. */
function problemOfFlag(token: FlagToken, options: Options, word: string): string | undefined {
  const { name, value, inlineValue } = token;
  const rawName = token.rawName.startsWith('--') ? token.rawName : word;
  const isKnown = Object.hasOwn(options, name) && rawName === token.rawName;
  const meant = isKnown ? name : suggest(rawName.replace(/^-+/, ''), Object.keys(options));
  if (meant === undefined) return `There is no flag ${rawName}.`;
  const { isSecret, variable, valueName } = options[meant]!;
  const reason = 'other users of this machine can see the flags of a command';
  if (isSecret) return `Set the variable ${variable} instead of ${rawName}: ${reason}.`;
  if (!isKnown) return `There is no flag ${rawName}. Did you mean --${meant}?`;
  if (valueName === undefined) return value === undefined ? undefined : `${rawName} takes no value.`;
  // In `--name --json` the name is missing. A value that begins with dashes needs an equals sign.
  const isMissing = value === undefined || (!inlineValue && value.startsWith('--'));
  return isMissing ? `${rawName} needs a value.` : undefined;
}
