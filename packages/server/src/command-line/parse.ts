import { parseArgs } from 'node:util';
import { similar } from '../lib/suggest.ts';
import type { Command } from './command.ts';
import { type Option, type Options, Problem } from './options.ts';

interface ParsedLine {
  readonly values: Record<string, unknown>;
  readonly arguments: string[];
  /** All that is wrong, a sentence each. */
  readonly problems: string[];
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Reads flags, variables and arguments; flags win over variables. Nothing stops at the first fault. */
export function parseLine(command: Command, words: readonly string[], variables: Variables): ParsedLine {
  const { options } = command;
  const problems: string[] = [];
  const given = new Map<string, string[]>();
  const faulty = new Set<string>();
  const positionals: Positional[] = [];

  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(options).map(([name, { valueName }]) => [
        name,
        { type: valueName === undefined ? 'boolean' : 'string', multiple: true } as const,
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

  let afterUnknown = -1;
  for (const token of tokens) {
    if (token.kind === 'positional') {
      positionals.push({ word: token.value, isAfterUnknown: token.index === afterUnknown });
    }
    if (token.kind !== 'option') continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) afterUnknown = token.index + 1;
    const fault = faultOfFlag(token, option, options);
    if (fault !== undefined) {
      problems.push(fault);
      faulty.add(token.name);
    } else given.set(token.name, [...(given.get(token.name) ?? []), token.value ?? '']);
  }

  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(options)) {
    if (faulty.has(name)) continue;
    const value = resolve(name, option, given, variables);
    if (value instanceof Problem) problems.push(value.sentence);
    else values[name] = value;
  }

  const bare = positionals.map(({ word }) => word);
  if (problems.length === 0) problems.push(...(command.conflicts?.(values, bare) ?? []));
  problems.push(...faultsOfArguments(command, positionals));
  return { values, arguments: bare, problems };
}

interface Positional {
  readonly word: string;
  readonly isAfterUnknown: boolean;
}

interface FlagToken {
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function faultOfFlag(
  token: FlagToken,
  option: Option<unknown> | undefined,
  options: Options,
): string | undefined {
  if (option === undefined) {
    const meant = similar(token.rawName.replace(/^-+/, ''), Object.keys(options));
    if (meant === undefined) return `There is no flag ${token.rawName}.`;
    return (
      faultOfSecret(token, options[meant]!) ?? `There is no flag ${token.rawName}; did you mean --${meant}?`
    );
  }
  if (option.isSecret) return faultOfSecret(token, option);
  if (option.valueName === undefined) {
    return token.value === undefined ? undefined : `${token.rawName} takes no value.`;
  }
  // `--name --json` forgot the name: a value that looks like a flag must be written with an equals sign.
  const isForgotten = token.value === undefined || (!token.inlineValue && token.value.startsWith('--'));
  return isForgotten ? `${token.rawName} needs a value.` : undefined;
}

function faultOfSecret({ rawName }: FlagToken, { isSecret, variable }: Option<unknown>): string | undefined {
  const reason = 'everybody on a machine can read the flags of a command';
  return isSecret ? `Set ${variable} instead of ${rawName}: ${reason}.` : undefined;
}

function resolve(
  name: string,
  option: Option<unknown>,
  given: ReadonlyMap<string, string[]>,
  variables: Variables,
): unknown {
  const flags = new Set(given.keys());
  const texts = given.get(name);
  if (texts !== undefined) return option.resolve(texts, `--${name}`, flags);
  const variable = option.variable === undefined ? undefined : variables[option.variable];
  return variable === undefined || variable === ''
    ? option.resolve([], option.isSecret ? option.variable! : `--${name}`, flags)
    : option.resolve([variable], option.variable!, flags);
}

function faultsOfArguments(command: Command, positionals: readonly Positional[]): string[] {
  const expected = command.arguments ?? [];
  // An empty one is a variable of a script that is not set.
  const missing = expected
    .filter((_, index) => !positionals[index]?.word)
    .map(({ name }) => `${name} is missing.`);
  // A word too many after a flag that does not exist was meant for it, and is no mistake of its own.
  const extra = positionals.slice(expected.length).filter(({ isAfterUnknown }) => !isAfterUnknown);
  return [...missing, ...extra.map(({ word }) => `Unexpected argument "${word}".`)];
}
