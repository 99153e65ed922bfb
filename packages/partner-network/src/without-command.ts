/** A command line without a command: empty, a group such as `keys`, or an unknown word. */
import { exitUsage, type Output } from '@partner-network/common/command-line/command';
import { helpColumns, inColumns, widthOf, wrap } from '@partner-network/common/command-line/help';
import { suggest } from '@partner-network/common/text';

/** Commands under a heading. */
interface CommandGroup {
  readonly heading: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
}

const ours = 'partner-network';

export function withoutCommand(
  groups: readonly CommandGroup[],
  words: readonly string[],
  isHelp: boolean,
  output: Output,
): number {
  const named = words.filter((word) => !word.startsWith('-')).slice(0, 2);
  const ofGroup = groups
    .map(({ heading, commands }) => ({
      heading,
      commands: commands.filter(({ name }) => name.startsWith(`${named[0]} `)),
    }))
    .filter(({ commands }) => commands.length > 0);
  const isGroup = ofGroup.length > 0;
  const program = isGroup ? `${ours} ${named[0]}` : ours;
  const help = (stream: NodeJS.WriteStream) =>
    helpOfAll(program, isGroup ? ofGroup : groups, helpColumns(stream));
  if (isHelp) {
    output.answer(help(process.stdout));
    return 0;
  }
  const needsHelp = words.length === 0 || (isGroup && named.length === 1);
  output.remark(
    needsHelp ? help(process.stderr) : correctionOf(groups, words, named, program),
    needsHelp ? undefined : 'error',
  );
  return exitUsage;
}

/** `program` is what a user types before the words of the list. */
function helpOfAll(program: string, groups: readonly CommandGroup[], columns: number): string {
  const short = (name: string) => `${ours} ${name}`.slice(program.length + 1);
  const nameWidth = widthOf(groups.flatMap(({ commands }) => commands.map(({ name }) => short(name))));
  const general = [
    `"${ours} --version" prints the version.`,
    '--no-color, or the variable NO_COLOR, prints everything without colors.',
    `If your shell does not find ${ours}, put npx before it.`,
  ];
  return [
    `Usage: ${program} COMMAND [FLAGS]`,
    ...groups.flatMap(({ heading, commands }) => [
      '',
      ...wrap(`${heading}:`, columns),
      ...inColumns(
        commands.map(({ name, summary }) => [short(name), summary]),
        nameWidth,
        columns,
      ),
    ]),
    '',
    ...wrap(`"${program} COMMAND --help" describes a command and its flags.`, columns),
    ...(program === ours ? general.flatMap((line) => wrap(line, columns)) : []),
  ].join('\n');
}

function correctionOf(
  groups: readonly CommandGroup[],
  words: readonly string[],
  named: readonly string[],
  program: string,
): string {
  const [first = ''] = words;
  const names = groups.flatMap(({ commands }) => commands).map(({ name }) => name);
  const typed = named.join(' ');
  const isFlag = first.startsWith('-');
  const isEarly = (name: string) => name === typed || (isFlag && words.join(' ').includes(` ${name}`));
  const [early] = names.filter(isEarly).toSorted((one, other) => other.length - one.length);
  if (early !== undefined) return `Put flags after the command: ${ours} ${early} …`;
  const known = new Set(names.flatMap((name) => [name, name.split(' ')[0]!]));
  // The words may be in the wrong order, as in `list brands`.
  const reversed = (name: string) => name.split(' ').reverse().join(' ');
  const nearest = isFlag ? undefined : suggest(typed, [...known, ...names.map(reversed)]);
  const meant = isFlag
    ? suggest(first, ['--help', '--version'])
    : [nearest, reversed(nearest ?? '')].find((name) => known.has(name ?? ''));
  const guess = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  const what = isFlag ? `flag ${first}` : `command "${typed}"`;
  const which = program === ours ? 'all' : 'its';
  return `There is no ${what}.${guess} "${program} --help" lists ${which} commands.`;
}
