import { notesOf, type Options } from './options.ts';
import type { Syntax } from './parse.ts';

export function helpOfAll(commands: readonly { readonly name: string; readonly summary: string }[]): string {
  return [
    'Usage: partner-network COMMAND [FLAGS]',
    '',
    'Commands:',
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    '',
    '"partner-network COMMAND --help" describes one command, --version tells the version. "npm start" runs the',
    'sandbox.',
  ].join('\n');
}

/** The help text of one program or command; `program` is what a user types before arguments and flags. */
export function helpOf(program: string, summary: string, syntax: Syntax<Options>): string {
  const { arguments: words = [], options } = syntax;
  const flags = Object.entries(options).map(([flag, option]) => {
    const { valueName, variable, isSecret, help } = option;
    const notes = notesOf(option);
    const meaning = notes.length === 0 ? help : `${help} (${notes.join(', ')})`;
    return [
      isSecret ? variable! : valueName === undefined ? `--${flag}` : `--${flag} ${valueName}`,
      isSecret || variable === undefined ? meaning : `${meaning} [${variable}]`,
    ];
  });
  return [
    `Usage: ${[program, ...words.map(({ name }) => name), '[FLAGS]'].join(' ')}`,
    '',
    summary,
    '',
    ...columns([...words.map(({ name, help }) => [name, help]), ...flags, ['--help', 'this text']]),
  ].join('\n');
}

function columns(rows: readonly string[][]): string[] {
  const width = Math.max(...rows.map(([left]) => left!.length));
  return rows.map(([left, right]) => `  ${left!.padEnd(width)}  ${right}`);
}
