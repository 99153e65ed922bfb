import type { Command } from './command.ts';

interface Summary {
  readonly name: string;
  readonly summary: string;
}

export function helpOfAll(commands: readonly Summary[]): string {
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

export function helpOf({ name, summary }: Summary, { arguments: words = [], options }: Command): string {
  const usage = ['partner-network', name, ...words.map((word) => word.name), '[FLAGS]'].join(' ');
  const flags = Object.entries(options).map(([flag, { valueName, variable, isSecret, help }]) => [
    isSecret ? variable! : valueName === undefined ? `--${flag}` : `--${flag} ${valueName}`,
    isSecret || variable === undefined ? help : `${help} [${variable}]`,
  ]);
  return [
    `Usage: ${usage}`,
    '',
    summary,
    '',
    ...columns([...words.map((word) => [word.name, word.help]), ...flags, ['--help', 'this text']]),
  ].join('\n');
}

function columns(rows: readonly string[][]): string[] {
  const width = Math.max(...rows.map(([left]) => left!.length));
  return rows.map(([left, right]) => `  ${left!.padEnd(width)}  ${right}`);
}
