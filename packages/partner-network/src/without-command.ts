/** A command line without a command: empty, a group such as `keys`, or an unknown word. */
import { exitUsage, type Output } from '@partner-network/common/command-line/command';
import { helpColumns, inColumns, widthOf, wrap } from '@partner-network/common/command-line/help';
import { suggest } from '@partner-network/common/text';
import { commands, type Entry, groups } from './commands.ts';

const ours = 'partner-network';

export function withoutCommand(words: readonly string[], isHelp: boolean, output: Output): number {
  const named = words.filter((word) => !word.startsWith('-')).slice(0, 2);
  const isGroup = commands.some(({ name }) => name.startsWith(`${named[0]} `));
  const program = isGroup ? `${ours} ${named[0]}` : ours;
  if (isHelp) output.answer(helpOfAll(program, helpColumns(process.stdout)));
  else if (words.length === 0 || (isGroup && named.length === 1))
    output.remark(helpOfAll(program, helpColumns(process.stderr)));
  else output.remark(correctionOf(words, named.join(' '), program), 'error');
  return isHelp ? 0 : exitUsage;
}

/** The help text of all commands that begin with `program`. */
function helpOfAll(program: string, columns: number): string {
  const short = ({ name }: Entry) => `${ours} ${name}`.slice(program.length + 1);
  const isShown = ({ name }: Entry) => `${ours} ${name}`.startsWith(`${program} `);
  const nameWidth = widthOf(commands.filter(isShown).map(short));
  const general = [
    `"${ours} --version" prints the version.`,
    '--no-color, or the variable NO_COLOR, prints everything without colors.',
    `If your shell does not find ${ours}, put npx before it.`,
  ];
  const lines = [`Usage: ${program} COMMAND [FLAGS]`];
  for (const { heading, commands } of groups) {
    const rows = commands.filter(isShown).map((entry) => [short(entry), entry.summary]);
    if (rows.length > 0)
      lines.push('', ...wrap(`${heading}:`, columns), ...inColumns(rows, nameWidth, columns));
  }
  const more = [`"${program} COMMAND --help" describes a command and its flags.`];
  if (program === ours) more.push(...general);
  return [...lines, '', ...more.flatMap((line) => wrap(line, columns))].join('\n');
}

/** `typed` are the first words that are not flags. */
function correctionOf(words: readonly string[], typed: string, program: string): string {
  const [first = ''] = words;
  const names = commands.map(({ name }) => name);
  const isFlag = first.startsWith('-');
  const isEarly = (name: string) => name === typed || (isFlag && words.join(' ').includes(` ${name}`));
  const [early] = names.filter(isEarly).toSorted((one, other) => other.length - one.length);
  if (early !== undefined) return `Put flags after the command: ${ours} ${early} …`;
  const known = new Set(names.flatMap((name) => [name, name.split(' ')[0]!]));
  // The words may be in the wrong order, as in `list brands`.
  const reversed = (name: string) => name.split(' ').reverse().join(' ');
  const nearest = suggest(typed, [...known, ...names.map(reversed)]) ?? '';
  const meant = isFlag
    ? suggest(first, ['--help', '--version'])
    : [nearest, reversed(nearest)].find((name) => known.has(name));
  const guess = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  const what = isFlag ? `flag ${first}` : `command "${typed}"`;
  const which = program === ours ? 'all' : 'its';
  return `There is no ${what}.${guess} "${program} --help" lists ${which} commands.`;
}
