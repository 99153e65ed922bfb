import './bounds/relations.ts';
import { once } from 'node:events';
import { type Command, exitUsage } from './command-line/command.ts';
import { helpColumns, helpOf } from './command-line/help.ts';
import type { Output } from './command-line/output.ts';
import { parseLine } from './command-line/parse.ts';
import { withoutCommand } from './command-line/without-command.ts';
import { ConclusiveError, InterruptedError, OperatorError } from './lib/operator-error.ts';
import { endBy, onInterrupt } from './lib/signals.ts';
import { maskSecrets, printable } from './lib/text.ts';
import { ownVersion } from './lib/version.ts';
import { StoreUnavailable } from './store/port.ts';

interface Entry {
  readonly name: string;
  readonly summary: string;
  /** Command lines that its help shows. */
  readonly examples: readonly string[];
  readonly load: () => Promise<Command>;
}

/** The commands that a file exports. It is loaded only when one of them runs. */
function from<File extends Readonly<Record<keyof File, Command>>>(
  load: () => Promise<File>,
  named: Readonly<Record<keyof File, readonly [name: string, summary: string, ...examples: string[]]>>,
): Entry[] {
  const exported = Object.keys(named) as (keyof File)[];
  return exported.map((key) => {
    const [name, summary, ...examples] = named[key];
    return { name, summary, examples, load: async () => (await load())[key] };
  });
}

/** All commands, in the order of the help. */
const groups: readonly { readonly heading: string; readonly commands: readonly Entry[] }[] = [
  {
    heading: 'For partners, with an API key',
    commands: [
      ...from(() => import('./commands/sandbox.ts'), {
        sandbox: [
          'sandbox',
          'Run a sandbox with demo data and a demo key (start here)',
          'partner-network sandbox',
          'partner-network sandbox --port 9000 --data /tmp/sandbox',
        ],
      }),
      ...from(() => import('./commands/rehearse.ts'), {
        rehearse: [
          'rehearse',
          'Run your program against failures, and see whether it copes',
          'partner-network rehearse -- node sync-brands.js',
          'partner-network rehearse --listing balances --junit report.xml -- python3 balances.py',
          'partner-network rehearse --scenario rate-limited --scenario torn -- ./walk.sh',
          'partner-network rehearse',
        ],
      }),
      ...from(() => import('./commands/as-partner/lists.ts'), {
        listBrands: [
          'brands list',
          'List your brands',
          'partner-network brands list --limit 5',
          'partner-network brands list --all --json',
        ],
        listBalances: [
          'balances list',
          "List a customer's balances",
          'partner-network balances list --customer CUSTOMER_1001',
          'partner-network balances list --customer CUSTOMER_1001 --grant-id GRANT_1001',
        ],
      }),
      ...from(() => import('./commands/as-partner/conformance.ts'), {
        conformance: [
          'conformance',
          'Check over HTTP whether a deployment follows the specification',
          'partner-network conformance https://network.example/network/v1',
          'partner-network conformance http://127.0.0.1:8080/network/v1 --html report.html',
        ],
      }),
    ],
  },
  {
    heading: 'For operators, to run the service',
    commands: [
      ...from(() => import('./commands/serve.ts'), {
        serve: [
          'serve',
          'Serve the API, for production or as a sandbox',
          'partner-network serve --public-url https://network.example',
          'partner-network serve --environment sandbox --port 8081 --ops-port 9091',
        ],
      }),
      ...from(() => import('./commands/migrate.ts'), {
        migrate: ['migrate', 'Create the database, or update its schema'],
      }),
      ...from(() => import('./commands/ready.ts'), {
        ready: [
          'ready',
          'Exit with status 0 if an instance is ready, for health checks',
          'partner-network ready --ops-port 9091',
          'partner-network ready --wait 60',
        ],
      }),
      ...from(() => import('./commands/doctor.ts'), {
        doctor: ['doctor', 'Check what serve needs, and say how to fix each fault'],
      }),
      ...from(() => import('./commands/backup.ts'), {
        backup: ['backup', 'Copy the embedded database and its receipts, even while in use'],
      }),
      ...from(() => import('./commands/cursor-key.ts'), {
        rotateCursorKey: ['cursor-key rotate', 'Replace the key that seals cursors'],
        listCursorKeys: ['cursor-key list', 'List the cursor keys, without their secrets'],
      }),
    ],
  },
  {
    heading: 'For operators, to manage partners, keys, grants and customers',
    commands: [
      ...from(() => import('./commands/partners/partners.ts'), {
        createPartner: ['partners create', 'Create a partner'],
        listPartners: ['partners list', 'List all partners'],
        disablePartner: ['partners disable', "Refuse all of a partner's keys"],
        enablePartner: ['partners enable', "Accept a disabled partner's keys again"],
        renamePartner: ['partners rename', 'Change the name of a partner'],
      }),
      ...from(() => import('./commands/keys.ts'), {
        createKey: [
          'keys create',
          'Create an API key, which is shown only once',
          'partner-network keys create --partner PARTNER_1 --scope BRANDS_READ',
        ],
        listKeys: ['keys list', 'List the keys of one partner or of all, without their secrets'],
        findKey: ['keys find', 'Find the owner of a leaked key, without printing the key'],
        revokeKey: ['keys revoke', 'Revoke a key for good'],
        rotateKey: ['keys rotate', 'Replace a key; the old key works for a while longer'],
      }),
      ...from(() => import('./commands/grants.ts'), {
        createGrant: ['grants create', "Let a partner read a customer's balances"],
        listGrants: ['grants list', 'List the grants of a partner or a customer'],
        revokeGrant: [
          'grants revoke',
          'Revoke a grant, or all grants of a customer, for good',
          'partner-network grants revoke GRANT_1',
          'partner-network grants revoke --customer CUSTOMER_1 --all',
        ],
      }),
      ...from(() => import('./commands/customers.ts'), {
        eraseCustomer: ['customers erase', "Delete a customer's balances and grants for good"],
      }),
    ],
  },
  {
    heading: 'For operators, to move and check data',
    commands: [
      ...from(() => import('./commands/import/import.ts'), {
        importBrands: [
          'import brands',
          'Import brands from a file',
          'partner-network import brands brands.csv --partner PARTNER_1 --dry-run',
        ],
        importBalances: ['import balances', 'Import balances from a file'],
        importGrants: ['import grants', 'Import grants from a file'],
      }),
      ...from(() => import('./commands/import/erasures.ts'), {
        importErasures: ['import erasures', 'Repeat the erasures of another database'],
      }),
      ...from(() => import('./commands/export.ts'), {
        exportBrands: ['export brands', 'Print the brands of one partner or of all, for an import'],
        exportBalances: ['export balances', 'Print all balances, for an import'],
        exportGrants: ['export grants', 'Print all grants, for an import'],
        exportErasures: ['export erasures', 'Print which customers were erased, for an import'],
      }),
      ...from(() => import('./commands/partners/move.ts'), {
        exportPartners: ['partners export', 'Print all partners with the digests of their keys'],
        importPartners: ['partners import', 'Import the output of "partners export"; all keys keep working'],
      }),
      ...from(() => import('./commands/check-images.ts'), {
        checkImages: ['brands check-images', "Download and check the images of a partner's brands"],
      }),
    ],
  },
  {
    heading: 'For operators, to audit changes and requests for balances',
    commands: [
      ...from(() => import('./commands/audit.ts'), {
        listAudit: [
          'audit list',
          'List who changed what, newest first',
          'partner-network audit list --since 24h',
          'partner-network audit list --target PARTNER_1 --json',
        ],
      }),
      ...from(() => import('./commands/receipts.ts'), {
        listReceipts: ['receipts list', 'List who requested whose balances, newest first'],
        pruneReceipts: ['receipts prune', 'Delete old receipts'],
      }),
    ],
  },
];

const commands: readonly Entry[] = groups.flatMap((group) => group.commands);

/** All commands by group, each with its help as in a pipe, for the reference pages. */
export async function describedCommands() {
  const described = async (entry: Entry) => {
    const command = await entry.load();
    return { ...entry, command, help: helpOfCommand(entry, command, helpColumns({})) };
  };
  return Promise.all(
    groups.map(async ({ heading, commands }) => ({
      heading,
      commands: await Promise.all(commands.map(described)),
    })),
  );
}

function helpOfCommand({ name, summary, examples }: Entry, command: Command, columns: number): string {
  return helpOf(`partner-network ${name}`, `${summary}.`, command, columns, examples);
}

const exitFailure = 1;

/** Whether the command streams its output, and so has nothing left to do once the reader of a pipe stops. */
let isStreaming = false;

const output: Output = {
  answer: (text) => process.stdout.write(`${text}\n`),
  write: async (lines) => {
    isStreaming = true;
    if (!process.stdout.write(lines)) await once(process.stdout, 'drain');
  },
  // A remark may repeat an argument, such as a key that was pasted as an id.
  remark: (text) => process.stderr.write(`${maskSecrets(printable(text))}\n`),
};

/** Runs one command line and resolves to its exit status. */
export async function main(typed: readonly string[], variables: NodeJS.ProcessEnv): Promise<number> {
  // The reader of a pipe may stop, as `| head` does. A streaming command then ends; any other finishes
  // its work and exits with its own status. Every other write error means that output was lost.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' && isStreaming) process.exit(0);
    if (error.code === 'EPIPE') return;
    output.remark(`Cannot write the output (${error.message}): it is incomplete. Run the command again.`);
    process.exit(exitFailure);
  });

  if (typed[0] === '--version') {
    output.answer(ownVersion());
    return 0;
  }
  const words = typed[0] === 'help' ? typed.slice(1) : typed;
  // Words after `--` belong to a program that the command starts.
  const own = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
  const isHelp = words !== typed || own.includes('--help') || own.includes('-h');
  const entry = commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
  if (entry === undefined) return withoutCommand(groups, words, isHelp, output);

  const command = await entry.load();
  if (isHelp) {
    output.answer(helpOfCommand(entry, command, helpColumns(process.stdout)));
    return 0;
  }
  const line = parseLine(command, words.slice(entry.name.split(' ').length), variables);
  if (line.problems.length > 0) {
    for (const problem of line.problems) output.remark(problem);
    output.remark(`"partner-network ${entry.name} --help" lists its flags.`);
    return exitUsage;
  }
  return runCommand(command, line);
}

async function runCommand(command: Command, line: ReturnType<typeof parseLine>): Promise<number> {
  let isAnswered = false;
  const answer = (text: string) => {
    isAnswered = true;
    output.answer(text);
  };
  // After the answer, the work is done and the command only closes its connection.
  const remarkConsequence = () => {
    if (command.ifFailed !== undefined && !isAnswered) output.remark(command.ifFailed);
  };
  const ignoreInterrupt = command.ifFailed === undefined ? () => {} : onInterrupt(remarkConsequence);
  try {
    await command.run(line.values, line.arguments, { ...output, answer });
    return 0;
  } catch (error) {
    output.remark(messageOf(error));
    if (!(error instanceof ConclusiveError)) remarkConsequence();
    // An input that is still open must not keep the process alive.
    if (error instanceof InterruptedError) endBy(error.signal);
    return error instanceof OperatorError ? error.exitStatus : exitFailure;
  } finally {
    ignoreInterrupt();
  }
}

/** A failure that the operator can fix has a message. Anything else is a bug, printed with its stack. */
function messageOf(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  const remedy = 'Run the command again, or find the cause with "partner-network doctor".';
  if (error instanceof StoreUnavailable) return `${error.message} ${remedy}`;
  return `This is a bug. Please report it with this text:\n${(error as Error)?.stack ?? error}`;
}
