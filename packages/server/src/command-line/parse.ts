import { parseArgs } from 'node:util';
import { suggest } from '../lib/suggest.ts';
import { type Option, type Options, Problem, type Values } from './options.ts';

/** What a command line may contain. */
export interface Syntax<O extends Options> {
  /** Words after the command's name, all of them required. */
  readonly arguments?: readonly { readonly name: string; readonly help: string }[] | undefined;
  /** The flags, by their names without dashes. */
  readonly options: O;
  /** Rules between several values, checked once each value is valid by itself; one sentence per problem. */
  conflicts?(values: Values<O>, words: readonly string[]): string[];
}

interface ParsedLine<O extends Options> {
  /** Complete only if there are no problems. */
  readonly values: Values<O>;
  readonly arguments: string[];
  /** Everything that is wrong, one sentence each. */
  readonly problems: string[];
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads flags, arguments and environment variables. Flags win over variables, and every problem is reported,
 * not only the first. Any program can use it, not only commands of the server:
 *
 *     const options = { seeds: optional('N', wholeNumber(1, 99), 'how many') };
 *     const { values, problems } = parseLine({ options }, process.argv.slice(2));
 *
 * `--help` is up to the caller, and `helpOf` in help.ts writes the help text from the same options.
 */
export function parseLine<O extends Options>(
  syntax: Syntax<O>,
  words: readonly string[],
  variables: Variables = {},
): ParsedLine<O> {
  const { options, arguments: expected = [] } = syntax;
  const problems: string[] = [];
  const given = new Map<string, string[]>();
  const faulty = new Set<string>();
  const positionals: string[] = [];
  const extra: string[] = [];
  const types = Object.entries(options).map(([name, { valueName }]) => [
    name,
    { type: valueName === undefined ? 'boolean' : 'string', multiple: true } as const,
  ]);
  const parsing = { strict: false, allowPositionals: true, tokens: true } as const;
  const { tokens } = parseArgs({ args: [...words], options: Object.fromEntries(types), ...parsing });

  let afterUnknown = -1;
  for (const token of tokens) {
    if (token.kind === 'positional') {
      const isExpected = positionals.push(token.value) <= expected.length;
      // A word after an unknown flag was meant as its value, so it is not reported a second time.
      if (!isExpected && token.index !== afterUnknown) extra.push(`Unexpected argument "${token.value}".`);
    }
    if (token.kind !== 'option') continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) afterUnknown = token.index + 1;
    const problem = problemOfFlag(token, option, options);
    if (problem === undefined) given.set(token.name, [...(given.get(token.name) ?? []), token.value ?? '']);
    else {
      problems.push(problem);
      faulty.add(token.name);
    }
  }

  const resolved: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(options)) {
    if (faulty.has(name)) continue;
    const value = resolve(name, option, given, variables);
    if (value instanceof Problem) problems.push(value.sentence);
    else resolved[name] = value;
  }

  const values = resolved as Values<O>;
  if (problems.length === 0) problems.push(...(syntax.conflicts?.(values, positionals) ?? []));
  // An empty argument comes from a script whose variable is not set.
  const missing = expected.filter((_, index) => !positionals[index]);
  problems.push(...missing.map(({ name }) => `${name} is missing.`), ...extra);
  return { values, arguments: positionals, problems };
}

interface FlagToken {
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function problemOfFlag(
  { rawName, value, inlineValue }: FlagToken,
  option: Option<unknown> | undefined,
  options: Options,
): string | undefined {
  if (option === undefined) {
    const meant = suggest(rawName.replace(/^-+/, ''), Object.keys(options));
    if (meant === undefined) return `There is no flag ${rawName}.`;
    return (
      problemOfSecret(rawName, options[meant]!) ?? `There is no flag ${rawName}; did you mean --${meant}?`
    );
  }
  if (option.isSecret) return problemOfSecret(rawName, option);
  if (option.valueName === undefined) return value === undefined ? undefined : `${rawName} takes no value.`;
  // In `--name --json` the name is missing. A value that begins with dashes needs an equals sign.
  const isMissing = value === undefined || (!inlineValue && value.startsWith('--'));
  return isMissing ? `${rawName} needs a value.` : undefined;
}

function problemOfSecret(rawName: string, { isSecret, variable }: Option<unknown>): string | undefined {
  const reason = 'everybody on a machine can read the flags of a command';
  return isSecret ? `Set ${variable} instead of ${rawName}: ${reason}.` : undefined;
}

function resolve(
  name: string,
  option: Option<unknown>,
  given: ReadonlyMap<string, string[]>,
  variables: Variables,
): unknown {
  const { variable = '', isSecret } = option;
  const fromFlag = given.get(name);
  const fromVariable = variables[variable] ? [variables[variable]] : [];
  const isVariable = fromFlag === undefined && (fromVariable.length > 0 || isSecret);
  return option.resolve(fromFlag ?? fromVariable, isVariable ? variable : `--${name}`, new Set(given.keys()));
}
