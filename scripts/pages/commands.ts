import type { Command } from '../../packages/common/src/command-line/command.ts';
import { describedCommands } from '../../packages/partner-network/src/main.ts';
import { code, table, withCode } from './markdown.ts';
import { isShared, namesOf } from './settings.ts';

const introduction = `# Commands

Every command of \`partner-network\`, with its arguments and flags. In a checkout, put \`npx\` before
each command. \`--help\` after a command describes it and shows examples. \`partner-network --version\`
prints the version. [Settings](settings.md) describes the flags and variables, and says [which
commands](settings.md#shared-by-several-commands) take \`--environment\`, \`--database\` and
\`--json\`.

| exit status | meaning |
|---|---|
| 0 | the command did what it should |
| 1 | it failed, or it found something wrong; the message on standard error says what to do |
| 2 | the command line or a variable is wrong; nothing was done |
| 3 | only \`conformance\` and \`rehearse\`: nothing could be tested |

A list shows the newest 50 records as a table; \`--limit N\` shows N of them, and \`--all\` shows all.
On a terminal, the columns that do not fit are left out, ids lose their middle, times are short and
in UTC, and the last line says what is missing. A pipe gets everything. \`--json\` has every field,
and is for programs: columns may change.

Errors, warnings, states and the progress bar have colors on a terminal, and with
\`FORCE_COLOR\` in a pipe. \`NO_COLOR\`, \`--no-color\` and \`TERM=dumb\` remove them.
`;

/** Commands with more flags than a cell can show. Settings has a table for them. */
const servingFlags = '[those of `serve`](settings.md#serve)';

export async function commandsPage(): Promise<string> {
  const groups = (await describedCommands()).map(({ heading, commands }) => {
    const rows = commands.map(({ name, summary, command }) => [
      code([name, ...wordsOf(command).map(({ shown }) => shown)].join(' ')),
      [summary, ...wordsOf(command).map(({ help }) => help)].join('. '),
      flagsOf(name, command),
    ]);
    return `## ${heading}\n\n${table(['command', 'purpose', 'flags and variables'], rows)}`;
  });
  return [introduction, ...groups].join('\n');
}

/** The arguments as a user types them, each with its meaning. */
function wordsOf({ arguments: words = [], program }: Command) {
  const shownOf = (name: string, isOptional?: boolean) => (isOptional ? `[${name}]` : name);
  const described = words.map((word) => ({ ...word, shown: shownOf(word.name, word.isOptional) }));
  const after = program && { ...program, shown: shownOf(`-- ${program.name}`, program.isOptional) };
  return [...described, ...(after === undefined ? [] : [after])].map(({ name, shown, help }) => ({
    shown,
    help: `${code(name)}: ${withCode(help)}`,
  }));
}

function flagsOf(name: string, { options }: Command): string {
  const own = Object.entries(options).filter((named) => !isShared(named));
  if (name === 'serve') return servingFlags;
  const rest = name === 'doctor' ? own.filter(([flag]) => flag === 'admin-host') : own;
  const flags = rest.map((named) => code(namesOf(named)[0]!.split(' ')[0]!));
  return [...(name === 'doctor' ? [servingFlags] : []), ...flags].join(', ');
}
