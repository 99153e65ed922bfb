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
  /** Loaded when it is run: a command does not wait for the code of the others. */
  readonly load: () => Promise<Command>;
}

function entry(name: string, summary: string, load: () => Promise<Command>): Entry {
  return { name, summary, load };
}

const partners = () => import('./commands/partners.ts');
const moves = () => import('./commands/partners-move.ts');
const keys = () => import('./commands/keys.ts');
const grants = () => import('./commands/grants.ts');
const cursorKeys = () => import('./commands/cursor-key.ts');
const imports = () => import('./commands/import/import.ts');
const exports = () => import('./commands/export.ts');
const receipts = () => import('./commands/receipts.ts');

const commands: readonly Entry[] = [
  entry(
    'sandbox',
    'Serve a sandbox with demo data; the first thing to run',
    async () => (await import('./commands/sandbox.ts')).sandbox,
  ),
  entry('serve', 'Serve one environment', async () => (await import('./commands/serve.ts')).serve),
  entry(
    'migrate',
    'Bring the database to the current schema',
    async () => (await import('./commands/migrate.ts')).migrate,
  ),
  entry(
    'backup',
    'Copy the embedded database and its receipts, also while they are in use',
    async () => (await import('./commands/backup.ts')).backup,
  ),
  entry(
    'doctor',
    'Check what serve needs, and say what to do about each fault',
    async () => (await import('./commands/doctor.ts')).doctor,
  ),
  entry('partners create', 'Create a partner', async () => (await partners()).createPartner),
  entry('partners list', 'List all partners', async () => (await partners()).listPartners),
  entry('partners disable', "Refuse all of a partner's keys", async () => (await partners()).disablePartner),
  entry('partners enable', 'Let a disabled partner in again', async () => (await partners()).enablePartner),
  entry(
    'partners export',
    'Print all partners with the digests of their keys, to move them to another database',
    async () => (await moves()).exportPartners,
  ),
  entry(
    'partners import',
    'Take what "partners export" printed; the keys go on working',
    async () => (await moves()).importPartners,
  ),
  entry('keys create', 'Create an API key; it is shown only once', async () => (await keys()).createKey),
  entry('keys list', "List a partner's keys, without their secrets", async () => (await keys()).listKeys),
  entry('keys revoke', 'Refuse a key from now on', async () => (await keys()).revokeKey),
  entry(
    'keys rotate',
    'Replace a key; the old one expires after an overlap',
    async () => (await keys()).rotateKey,
  ),
  entry(
    'cursor-key rotate',
    'Seal cursors with a new key; those of before are good until they expire',
    async () => (await cursorKeys()).rotateCursorKey,
  ),
  entry(
    'cursor-key list',
    'List the keys of cursors, without their secrets',
    async () => (await cursorKeys()).listCursorKeys,
  ),
  entry(
    'grants create',
    "Let a partner read a customer's balances",
    async () => (await grants()).createGrant,
  ),
  entry('grants list', "List a partner's grants", async () => (await grants()).listGrants),
  entry('grants revoke', 'Revoke a grant', async () => (await grants()).revokeGrant),
  entry(
    'brands check-images',
    "Download a partner's brand images and check their headers against the specification",
    async () => (await import('./commands/check-images.ts')).checkImages,
  ),
  entry(
    'brands list',
    'As a partner, with an API key: list your brands',
    async () => (await import('./commands/as-partner/brands-list.ts')).listBrands,
  ),
  entry(
    'balances list',
    "As a partner, with an API key: list a customer's balances",
    async () => (await import('./commands/as-partner/balances-list.ts')).listBalances,
  ),
  entry('import brands', "Read a partner's brands from a file", async () => (await imports()).importBrands),
  entry('import balances', 'Read balances from a file', async () => (await imports()).importBalances),
  entry('import grants', 'Read grants from a file', async () => (await imports()).importGrants),
  entry(
    'export brands',
    "Print a partner's brands as lines that an import takes",
    async () => (await exports()).exportBrands,
  ),
  entry('export balances', 'Print all balances', async () => (await exports()).exportBalances),
  entry('export grants', 'Print all grants', async () => (await exports()).exportGrants),
  entry('receipts list', 'Show who asked for whose balances', async () => (await receipts()).listReceipts),
  entry('receipts prune', 'Remove old receipts', async () => (await receipts()).pruneReceipts),
];

const exitFailure = 1;
const exitUsage = 2;

/** Whether the command is one that prints for as long as somebody reads. */
let isStreaming = false;

const output: Output = {
  answer: (text) => process.stdout.write(`${text}\n`),
  write: async (lines) => {
    isStreaming = true;
    if (!process.stdout.write(lines)) await once(process.stdout, 'drain');
  },
  // A key may be pasted where an id belongs, and an id may hold anything: neither is repeated as it is.
  remark: (text) => process.stderr.write(`${maskKeys(printable(text))}\n`),
};

/** Runs one command line and resolves to its exit status. */
export async function main(words: readonly string[], variables: NodeJS.ProcessEnv): Promise<number> {
  // Whoever reads our output may stop reading, as `| head` does: then there is no more to print, but what
  // else is under way goes on, and its status tells how it ended. Anything else lost what we had to say.
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
    output.answer(helpOf(`partner-network ${entry.name}`, entry.summary, command));
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
    // What an operator can mend is said in a sentence; anything else is our fault, and its trace helps to
    // find it.
    const isExplained = error instanceof OperatorError || error instanceof StoreUnavailable;
    output.remark(isExplained ? error.message : String((error as Error)?.stack ?? error));
    return exitFailure;
  }
}

/** Nothing, a group such as `keys`, or a word that is no command. */
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
