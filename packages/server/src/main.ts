import './bounds/relations.ts';
import { once } from 'node:events';
import type { Command } from './command-line/command.ts';
import { helpOf, helpOfAll } from './command-line/help.ts';
import type { Output } from './command-line/output.ts';
import { parseLine } from './command-line/parse.ts';
import { OperatorError } from './lib/operator-error.ts';
import { suggest } from './lib/suggest.ts';
import { maskKeys, printable } from './lib/text.ts';
import { ownVersion } from './lib/version.ts';
import { StoreUnavailable } from './store/port.ts';

interface Entry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** The commands that a file exports. It is loaded only when one of them runs. */
function from<File extends Readonly<Record<keyof File, Command>>>(
  load: () => Promise<File>,
  named: Readonly<Record<keyof File, readonly [name: string, summary: string]>>,
): Entry[] {
  const exported = Object.keys(named) as (keyof File)[];
  return exported.map((key) => ({
    name: named[key][0],
    summary: named[key][1],
    load: async () => (await load())[key],
  }));
}

const commands: readonly Entry[] = [
  from(() => import('./commands/sandbox.ts'), {
    sandbox: ['sandbox', 'Serve a sandbox with demo data; the first thing to run'],
  }),
  from(() => import('./commands/serve.ts'), { serve: ['serve', 'Serve one environment'] }),
  from(() => import('./commands/migrate.ts'), {
    migrate: ['migrate', 'Bring the database to the current schema'],
  }),
  from(() => import('./commands/backup.ts'), {
    backup: ['backup', 'Copy the embedded database and its receipts, also while they are in use'],
  }),
  from(() => import('./commands/doctor.ts'), {
    doctor: ['doctor', 'Check what serve needs, and say what to do about each fault'],
  }),
  from(() => import('./commands/partners.ts'), {
    createPartner: ['partners create', 'Create a partner'],
    listPartners: ['partners list', 'List all partners'],
    disablePartner: ['partners disable', "Refuse all of a partner's keys"],
    enablePartner: ['partners enable', 'Let a disabled partner in again'],
  }),
  from(() => import('./commands/partners-move.ts'), {
    exportPartners: [
      'partners export',
      'Print all partners with the digests of their keys, to move them to another database',
    ],
    importPartners: ['partners import', 'Take what "partners export" printed; the keys go on working'],
  }),
  from(() => import('./commands/keys.ts'), {
    createKey: ['keys create', 'Create an API key; it is shown only once'],
    listKeys: ['keys list', "List a partner's keys, without their secrets"],
    revokeKey: ['keys revoke', 'Refuse a key from now on'],
    rotateKey: ['keys rotate', 'Replace a key; the old one expires after an overlap'],
  }),
  from(() => import('./commands/cursor-key.ts'), {
    rotateCursorKey: [
      'cursor-key rotate',
      'Seal cursors with a new key; those of before are good until they expire',
    ],
    listCursorKeys: ['cursor-key list', 'List the keys of cursors, without their secrets'],
  }),
  from(() => import('./commands/grants.ts'), {
    createGrant: ['grants create', "Let a partner read a customer's balances"],
    listGrants: ['grants list', "List a partner's grants"],
    revokeGrant: ['grants revoke', 'Revoke a grant'],
  }),
  from(() => import('./commands/check-images.ts'), {
    checkImages: [
      'brands check-images',
      "Download a partner's brand images and check their headers against the specification",
    ],
  }),
  from(() => import('./commands/as-partner/lists.ts'), {
    listBrands: ['brands list', 'As a partner, with an API key: list your brands'],
    listBalances: ['balances list', "As a partner, with an API key: list a customer's balances"],
  }),
  from(() => import('./commands/import/import.ts'), {
    importBrands: ['import brands', "Read a partner's brands from a file"],
    importBalances: ['import balances', 'Read balances from a file'],
    importGrants: ['import grants', 'Read grants from a file'],
  }),
  from(() => import('./commands/export.ts'), {
    exportBrands: ['export brands', "Print a partner's brands as lines that an import takes"],
    exportBalances: ['export balances', 'Print all balances'],
    exportGrants: ['export grants', 'Print all grants'],
  }),
  from(() => import('./commands/receipts.ts'), {
    listReceipts: ['receipts list', 'Show who asked for whose balances'],
    pruneReceipts: ['receipts prune', 'Remove old receipts'],
  }),
].flat();

/** The help of all commands, for the reference pages. */
export async function helpTexts(): Promise<string[]> {
  return Promise.all(commands.map(async (entry) => helpOfCommand(entry, await entry.load())));
}

function helpOfCommand({ name, summary }: Entry, command: Command): string {
  return helpOf(`partner-network ${name}`, summary, command);
}

const exitFailure = 1;
const exitUsage = 2;

/** Whether the command streams its output, and so has nothing left to do once the reader of a pipe stops. */
let isStreaming = false;

const output: Output = {
  answer: (text) => process.stdout.write(`${text}\n`),
  write: async (lines) => {
    isStreaming = true;
    if (!process.stdout.write(lines)) await once(process.stdout, 'drain');
  },
  // A remark may repeat an argument: mask a key that was pasted as an id, and escape control characters.
  remark: (text) => process.stderr.write(`${maskKeys(printable(text))}\n`),
};

/** Runs one command line and resolves to its exit status. */
export async function main(words: readonly string[], variables: NodeJS.ProcessEnv): Promise<number> {
  // The reader of a pipe may stop, as `| head` does. A streaming command then ends; any other finishes
  // its work and exits with its own status. Every other write error means that output was lost.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' && isStreaming) process.exit(0);
    if (error.code === 'EPIPE') return;
    output.remark(`Cannot write all of the output (${error.message}): what there is of it is incomplete.`);
    process.exit(exitFailure);
  });

  if (words[0] === '--version') {
    output.answer(ownVersion());
    return 0;
  }
  const isHelp = words.includes('--help') || words.includes('-h');
  const entry = commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
  if (entry === undefined) return withoutCommand(words, isHelp);

  const command = await entry.load();
  if (isHelp) {
    output.answer(helpOfCommand(entry, command));
    return 0;
  }
  const line = parseLine(command, words.slice(entry.name.split(' ').length), variables);
  if (line.problems.length > 0) {
    for (const problem of line.problems) output.remark(problem);
    output.remark(`"partner-network ${entry.name} --help" lists its flags.`);
    return exitUsage;
  }
  try {
    await command.run(line.values, line.arguments, output);
    return 0;
  } catch (error) {
    // A failure that the operator can fix is one sentence; anything else is a bug, printed with its stack.
    const isExplained = error instanceof OperatorError || error instanceof StoreUnavailable;
    output.remark(isExplained ? error.message : String((error as Error)?.stack ?? error));
    return exitFailure;
  }
}

/** Handles a line without a command: empty, a group such as `keys`, or an unknown word. */
function withoutCommand(words: readonly string[], isHelp: boolean): number {
  const named = words.filter((word) => !word.startsWith('-')).slice(0, 2);
  const group = commands.filter(({ name }) => name.startsWith(`${named[0]} `));
  const help = helpOfAll(group.length > 0 ? group : commands);
  if (isHelp || named[0] === 'help') {
    output.answer(help);
    return 0;
  }
  const isGroup = named.length === 1 && group.length > 0;
  output.remark(named.length === 0 || isGroup ? help : correctionOf(named.join(' ')));
  return exitUsage;
}

function correctionOf(typed: string): string {
  const known = commands.map(({ name }) => name);
  if (known.includes(typed)) return `Put flags after the command: partner-network ${typed} …`;
  const meant = suggest(typed, known);
  const guess = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  return `There is no command "${typed}".${guess} "partner-network --help" lists all.`;
}
