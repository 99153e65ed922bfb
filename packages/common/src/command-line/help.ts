import { fileVariable, type Options } from './options.ts';
import type { Syntax } from './parse.ts';

/** Width of a pipe or file. */
const pipeColumns = 100;
/** A narrower terminal breaks the lines itself. */
const minColumns = 40;
/** Longer names do not move the texts of the others to the right. */
const maxNameColumns = 26;
/** With less room than this beside the names, all texts start below their names. */
const minTextColumns = 40;
const narrowIndent = 6;

/** The width for help on this stream. The last cell stays empty: filling it makes some terminals wrap. */
export function helpColumns({ columns }: { readonly columns?: number | undefined }): number {
  return columns ? Math.max(columns - 1, minColumns) : pipeColumns;
}

/** The help text of one program or command; `program` is what a user types before arguments and flags. */
export function helpOf(
  program: string,
  summary: string,
  syntax: Syntax<Options>,
  columns: number,
  examples: readonly string[] = [],
): string {
  const { arguments: words = [], program: after, options } = syntax;
  const described = Object.entries(options).map(([flag, option]) => {
    const { valueName, variable, isSecret, help, hasFile } = option;
    const notes = [
      option.isRequired && 'required',
      option.isRepeatable && 'repeatable',
      option.default !== undefined && `default ${option.default}`,
    ].filter((note) => note);
    const meaning = notes.length === 0 ? help : `${help} (${notes.join(', ')})`;
    const own = isSecret || variable === undefined ? [] : [variable];
    const names = hasFile ? [...own, fileVariable(variable!)] : own;
    return [
      isSecret ? variable! : valueName === undefined ? `--${flag}` : `--${flag} ${valueName}`,
      names.length === 0 ? meaning : `${meaning} [${names.join(', ')}]`,
    ];
  });
  const flags = described.filter(([name]) => name!.startsWith('--'));
  const variables = described.filter(([name]) => !name!.startsWith('--'));
  const named = after === undefined ? words : [...words, after];
  const rows = [...named.map(({ name, help }) => [name, help]), ...flags, ['--help', 'this text']];
  const nameWidth = widthOf([...rows, ...variables].map(([left]) => left!));
  const usage = [
    program,
    ...words.map(({ name, isOptional }) => (isOptional ? `[${name}]` : name)),
    '[FLAGS]',
  ];
  if (after !== undefined) usage.push(after.isOptional ? `[-- ${after.name}]` : `-- ${after.name}`);
  const hasBrackets = Object.values(options).some(({ variable, isSecret }) => variable && !isSecret);
  const brackets = 'A name in square brackets is the environment variable for the same value. The flag wins.';
  const hasFiles = Object.values(options).some(({ hasFile }) => hasFile);
  const files = 'A variable that ends in _FILE names a file that contains the value.';
  return [
    `Usage: ${usage.join(' ')}`,
    '',
    // Indented lines are a table of the program's own.
    ...summary.split('\n').flatMap((line) => (line.startsWith(' ') ? [line] : wrap(line, columns))),
    '',
    ...inColumns(rows, nameWidth, columns),
    ...(hasBrackets ? ['', ...wrap(brackets, columns)] : []),
    ...(variables.length > 0 ? ['', 'Environment variables without a flag:'] : []),
    ...inColumns(variables, nameWidth, columns),
    ...(hasFiles ? ['', ...wrap(files, columns)] : []),
    ...(examples.length > 0 ? ['', 'Examples:', ...examples.map((line) => `  ${line}`)] : []),
  ].join('\n');
}

/** The width of the left column. */
export function widthOf(names: readonly string[]): number {
  return Math.max(...names.map(({ length }) => length).filter((length) => length <= maxNameColumns));
}

/** Two columns. A text starts below its name if the name is long, or if the right column would be narrow. */
export function inColumns(rows: readonly string[][], nameWidth: number, columns: number): string[] {
  const isNarrow = columns - nameWidth - 4 < minTextColumns;
  const indent = ' '.repeat(isNarrow ? narrowIndent : nameWidth + 4);
  return rows.flatMap(([name = '', text = '']) => {
    const lines = wrap(text, columns - indent.length).map((line) => indent + line);
    const start = `  ${name}`;
    if (isNarrow || name.length > nameWidth) return [start, ...lines];
    return [start + lines[0]!.slice(start.length), ...lines.slice(1)];
  });
}

/** Breaks a line between words. A word that is longer than a line stays whole, so that it can be copied. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(' ')) {
    const longer: string = line === undefined ? word : `${line} ${word}`;
    if (line === undefined || longer.length <= columns) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line!];
}
