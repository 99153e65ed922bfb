import { suggest } from '../suggest.ts';
import { exitUsage } from './command.ts';
import { type CommandGroup, helpColumns, helpOfAll } from './help.ts';
import type { Output } from './output.ts';

/** Handles a line without a command: empty, a group such as `keys`, or an unknown word. */
export function withoutCommand(
  groups: readonly CommandGroup[],
  words: readonly string[],
  isHelp: boolean,
  output: Output,
): number {
  const named = words.filter((word) => !word.startsWith('-')).slice(0, 2);
  const ofGroup = groups
    .map((group) => ({
      ...group,
      commands: group.commands.filter(({ name }) => name.startsWith(`${named[0]} `)),
    }))
    .filter((group) => group.commands.length > 0);
  const help = (stream: NodeJS.WriteStream) =>
    helpOfAll(ofGroup.length > 0 ? ofGroup : groups, helpColumns(stream));
  if (isHelp) {
    output.answer(help(process.stdout));
    return 0;
  }
  const isGroup = named.length === 1 && ofGroup.length > 0;
  output.remark(named.length === 0 || isGroup ? help(process.stderr) : correctionOf(groups, named.join(' ')));
  return exitUsage;
}

function correctionOf(groups: readonly CommandGroup[], typed: string): string {
  const names = groups.flatMap(({ commands }) => commands).map(({ name }) => name);
  if (names.includes(typed)) return `Put flags after the command: partner-network ${typed} …`;
  const known = new Set(names.flatMap((name) => [name, name.split(' ')[0]!]));
  // The words may be in the wrong order, as in `list brands`.
  const reversed = (name: string) => name.split(' ').reverse().join(' ');
  const nearest = suggest(typed, [...known, ...names.map(reversed)]) ?? '';
  const meant = [nearest, reversed(nearest)].find((name) => known.has(name));
  const guess = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  return `There is no command "${typed}".${guess} "partner-network --help" lists all commands.`;
}
