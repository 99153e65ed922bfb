import '@partner-network/common/bounds/relations';
import { once } from 'node:events';
import { toned } from '@partner-network/common/command-line/color';
import { type Command, exitUsage, type Output } from '@partner-network/common/command-line/command';
import { helpColumns, helpOf } from '@partner-network/common/command-line/help';
import { parseLine } from '@partner-network/common/command-line/parse';
import { ConclusiveError, InterruptedError, OperatorError } from '@partner-network/common/errors';
import { endBy, onInterrupt } from '@partner-network/common/process';
import { maskSecrets, printable } from '@partner-network/common/text';
import { StoreUnavailable } from '@partner-network/store/port';
import { commands, type Entry, groups } from './commands.ts';
import { withoutCommand } from './without-command.ts';

/** All commands by group, each with its help as in a pipe, for the reference pages and their tests. */
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

/** Where a command prints. */
type Streams = Pick<NodeJS.Process, 'stdout' | 'stderr'>;

function outputTo({ stdout, stderr }: Streams): Output {
  /** Whether the command streams, and so has nothing left to do once the reader of a pipe stops. */
  let isStreaming = false;
  const output: Output = {
    answer: (text) => stdout.write(`${text}\n`),
    write: async (lines) => {
      isStreaming = true;
      if (!stdout.write(lines)) await once(stdout, 'drain');
    },
    // A remark may repeat an argument, such as a key that was pasted as an id.
    remark: (text, tone) => stderr.write(`${toned(tone, maskSecrets(printable(text)), stderr)}\n`),
  };
  // If nobody reads the remarks any more, a feed goes on: without a listener, this error would end it.
  stderr.on('error', () => {});
  // The reader of a pipe may stop, as `| head` does. A streaming command then ends; any other finishes
  // its work and exits with its own status. Every other write error means that output was lost.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' && isStreaming) process.exit(0);
    if (error.code === 'EPIPE') return;
    const remedy = 'it is incomplete. Run the command again.';
    output.remark(`Cannot write the output (${error.message}): ${remedy}`, 'error');
    process.exit(exitFailure);
  });
  return output;
}

/** Runs one command line and resolves to its exit status. */
export async function main(
  typed: readonly string[],
  variables: NodeJS.ProcessEnv,
  streams: Streams = process,
): Promise<number> {
  const output = outputTo(streams);
  // Words after `--` belong to a program that the command starts.
  const end = typed.includes('--') ? typed.indexOf('--') : typed.length;
  const own = typed.slice(0, end).filter((word) => word !== '--no-color');
  if (own.length < end) {
    process.env.NO_COLOR = '1';
    delete process.env.FORCE_COLOR;
  }
  const isHelp = own[0] === 'help' || own.includes('--help') || own.includes('-h');
  const words = [...own.slice(own[0] === 'help' ? 1 : 0), ...typed.slice(end)];
  const entry = commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
  if (entry === undefined) return withoutCommand(words, isHelp, output);

  const command = await entry.load();
  if (isHelp) {
    output.answer(helpOfCommand(entry, command, helpColumns(streams.stdout)));
    return 0;
  }
  const line = parseLine(command, words.slice(entry.name.split(' ').length), variables);
  if (line.problems.length > 0) {
    for (const problem of line.problems) output.remark(problem, 'error');
    output.remark(`"partner-network ${entry.name} --help" lists its flags.`);
    return exitUsage;
  }
  return runCommand(command, line, output);
}

async function runCommand(
  command: Command,
  line: ReturnType<typeof parseLine>,
  output: Output,
): Promise<number> {
  let isAnswered = false;
  const answer = (text: string) => {
    isAnswered = true;
    output.answer(text);
  };
  // After the answer, the work is done and the command only closes its connection.
  const remarkConsequence = () => {
    if (command.ifFailed !== undefined && !isAnswered) output.remark(command.ifFailed, 'warning');
  };
  const ignoreInterrupt = command.ifFailed === undefined ? () => {} : onInterrupt(remarkConsequence);
  try {
    await command.run(line.values, line.arguments, { ...output, answer });
    return 0;
  } catch (error) {
    output.remark(messageOf(error), 'error');
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
