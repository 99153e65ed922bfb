import type { Command, Output } from './command-line/command.ts';
import { helpOf, helpOfAll } from './command-line/help.ts';
import { parseLine } from './command-line/parse.ts';
import { nearest } from './nearest.ts';
import { OperatorError } from './operator-error.ts';

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
    summary: "Refuse all of a partner's keys, within a second",
    load: async () => (await import('./commands/partners.ts')).disablePartner,
  },
  {
    name: 'partners enable',
    summary: 'Let a disabled partner in again',
    load: async () => (await import('./commands/partners.ts')).enablePartner,
  },
  {
    name: 'keys create',
    summary: 'Create an API key; it is shown this once',
    load: async () => (await import('./commands/keys.ts')).createKey,
  },
  {
    name: 'keys list',
    summary: "List a partner's keys, without their secrets",
    load: async () => (await import('./commands/keys.ts')).listKeys,
  },
  {
    name: 'keys revoke',
    summary: 'Refuse a key from now on, within a second',
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
    summary: 'Revoke a grant, within a second',
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
  remark: (text) => process.stderr.write(`${text}\n`),
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
    output.remark(`"partner-network ${entry.name} --help" tells what it takes.`);
    return exitUsage;
  }
  try {
    await command.run(line.values, line.arguments, output);
    return 0;
  } catch (error) {
    // What an operator can mend is said in a sentence; anything else is our fault, and its trace helps to
    // find it.
    output.remark(error instanceof OperatorError ? error.message : String((error as Error)?.stack ?? error));
    return exitFailure;
  }
}

/** Nothing, a group such as `keys`, or a word that is no command. */
function withoutCommand(words: readonly string[], isHelp: boolean): number {
  const named = words.filter((word) => !word.startsWith('-')).slice(0, 2);
  const group = commands.filter(({ name }) => name.startsWith(`${named[0]} `));
  const help = helpOfAll(group.length > 0 ? group : commands);
  if (isHelp) {
    output.answer(help);
    return 0;
  }
  const isGroup = named.length === 1 && group.length > 0;
  if (named.length === 0 || isGroup) output.remark(help);
  else {
    const known = commands.map(({ name }) => name);
    const [typed, meant] = [named.join(' '), nearest(named.join(' '), known)];
    output.remark(
      `There is no command "${typed}"; did you mean "${meant}"? "partner-network --help" lists all.`,
    );
  }
  return exitUsage;
}
