/** What programs that measure or try something have in common: how they begin and end, and leave nothing. */
import { openLifetime } from '../packages/server/test/support/lifetime.ts';

export const wholeRun = openLifetime();

let cleaning: Promise<void> | undefined;

/** Last things first, and once, though a signal may come when it has begun. */
function cleanUp(): Promise<void> {
  cleaning ??= wholeRun[Symbol.asyncDispose]();
  return cleaning;
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

interface Bench<Flags> {
  readonly help: string;
  /** Throws what is wrong with them. */
  readFlags(words: string[]): Flags | 'help';
  /** What it needs and this machine does not have. */
  lackFor(flags: Flags): string | false;
  /** Whether all that was measured is as it should be. */
  measure(flags: Flags): Promise<boolean>;
}

/** Runs it by this process's words, and sets the exit status. */
export async function runBench<Flags>(bench: Bench<Flags>): Promise<void> {
  process.exitCode = await statusOf(bench);
}

async function statusOf<Flags>({ help, readFlags, lackFor, measure }: Bench<Flags>): Promise<number> {
  let flags: Flags | 'help';
  try {
    flags = readFlags(process.argv.slice(2));
  } catch (error) {
    say((error as Error).message);
    return 2;
  }
  if (flags === 'help') {
    process.stdout.write(`${help}\n`);
    return 0;
  }
  const lack = lackFor(flags);
  if (lack) {
    say(lack);
    return 1;
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => cleanUp().finally(() => process.exit(1)));
  }
  try {
    return (await measure(flags)) ? 0 : 1;
  } finally {
    await cleanUp();
  }
}
