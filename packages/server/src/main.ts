import type { Command, Output } from './command-line/command.ts';
import { helpOf, helpOfAll } from './command-line/help.ts';
import { parseLine } from './command-line/parse.ts';
import { similar } from './nearest.ts';
import { OperatorError } from './operator-error.ts';
import { StoreUnavailable } from './store/port.ts';
import { maskKeys, printable } from './text.ts';

interface Entry {
  readonly name: string;
  readonly summary: string;
  /** Loaded when it is run: a command does not wait for the code of the others. */
  load(): Promise<Command>;
}

const commands: readonly Entry[] = [
  {
    name: 'sandbox',
    summary: 'Serve a sandbox with demo data; the first thing to run',
    load: async () => (await import('./commands/sandbox.ts')).sandbox,
  },
  {
    name: 'serve',
    summary: 'Serve one environment',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  {
    name: 'migrate',
    summary: 'Bring the database to the current schema',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  {
    name: 'partners create',
    summary: 'Create a partner',
    load: async () => (await import('./commands/partners.ts')).createPartner,
  },
  {
    name: 'partners list',
    summary: 'List all partners',
    load: async () => (await import('./commands/partners.ts')).listPartners,
  },
  {
    name: 'partners disable',
    summary: "Refuse all of a partner's keys",
    load: async () => (await import('./commands/partners.ts')).disablePartner,
  },
  {
    name: 'partners enable',
    summary: 'Let a disabled partner in again',
    load: async () => (await import('./commands/partners.ts')).enablePartner,
  },
  {
    name: 'keys create',
    summary: 'Create an API key; it is shown only once',
    load: async () => (await import('./commands/keys.ts')).createKey,
  },
  {
    name: 'keys list',
    summary: "List a partner's keys, without their secrets",
    load: async () => (await import('./commands/keys.ts')).listKeys,
  },
  {
    name: 'keys revoke',
    summary: 'Refuse a key from now on',
    load: async () => (await import('./commands/keys.ts')).revokeKey,
  },
  {
    name: 'keys rotate',
    summary: 'Replace a key: a new one with the same scopes, the old one expires after the overlap',
    load: async () => (await import('./commands/keys.ts')).rotateKey,
  },
  {
    name: 'grants create',
    summary: "Let a partner read a customer's balances",
    load: async () => (await import('./commands/grants.ts')).createGrant,
  },
  {
    name: 'grants list',
    summary: "List a partner's grants",
    load: async () => (await import('./commands/grants.ts')).listGrants,
  },
  {
    name: 'grants revoke',
    summary: 'Revoke a grant',
    load: async () => (await import('./commands/grants.ts')).revokeGrant,
  },
  {
    name: 'import brands',
    summary: "Read a partner's brands from a file",
    load: async () => (await import('./commands/import.ts')).importBrands,
  },
  {
    name: 'import balances',
    summary: 'Read balances from a file',
    load: async () => (await import('./commands/import.ts')).importBalances,
  },
  {
    name: 'import grants',
    summary: 'Read grants from a file',
    load: async () => (await import('./commands/import.ts')).importGrants,
  },
];

const exitFailure = 1;
const exitUsage = 2;

const output: Output = {
  answer: (text) => process.stdout.write(`${text}\n`),
  // A key may be pasted where an id belongs, and an id may hold anything: neither is repeated as it is.
  remark: (text) => process.stderr.write(`${maskKeys(printable(text))}\n`),
};

/** Runs one command line and resolves to its exit status. */
export async function main(words: readonly string[], variables: NodeJS.ProcessEnv): Promise<number> {
  // Whoever reads our output may stop reading, as `| head` does; that is no failure.
  process.stdout.on('error', () => process.exit(0));

  const isHelp = words.includes('--help') || words.includes('-h');
  const entry = commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
  if (entry === undefined) return withoutCommand(words, isHelp);

  const command = await entry.load();
  if (isHelp) {
    output.answer(helpOf(entry, command));
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
  const meant = similar(typed, known);
  const guess = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  return `There is no command "${typed}".${guess} "partner-network --help" lists all.`;
}
