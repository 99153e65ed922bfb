/** A Postgres server process on its own data folder, which can be stopped, killed and frozen. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, globSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { unprivileged } from '../fixtures/lifetime.ts';
import { programsFolder } from './postgres-programs.ts';

export type PostgresServer = ReturnType<typeof serverIn>;

const startTimeoutMs = 30_000;

/** A server on this data folder, not started yet. */
export function serverIn(folder: string, port: number) {
  let postmaster: ChildProcess | undefined;
  let frozen: number[] = [];

  const thaw = () => {
    for (const pid of frozen) process.kill(pid, 'SIGCONT');
    frozen = [];
  };
  return {
    port,
    folder,
    url: (database = 'postgres') => `postgres://postgres@127.0.0.1:${port}/${database}`,
    pid: () => postmaster!.pid!,
    isRunning: () => postmaster !== undefined && !hasEnded(postmaster),
    /** Resolves when it answers. */
    start: async () => {
      postmaster = await spawnPostmaster(folder);
      await ready(postmaster, folder);
    },
    stop: async (how: 'fast' | 'immediate' = 'fast') => {
      thaw();
      if (postmaster === undefined || hasEnded(postmaster)) return;
      postmaster.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
      await once(postmaster, 'exit');
    },
    /** Sends SIGKILL to the server and the processes of its connections. */
    kill: async () => {
      if (postmaster === undefined || hasEnded(postmaster)) return;
      const pids = haltedFamily(postmaster.pid!);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      await once(postmaster, 'exit');
      // The next server does not start while a process still has the shared memory.
      while (processes().some(({ pid }) => pids.includes(pid))) await wait(5);
      frozen = [];
    },
    /** Stops all answers. Connections stay open, and the kernel accepts new connections. */
    freeze: () => {
      frozen = haltedFamily(postmaster!.pid!);
      for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    },
    thaw,
  };
}

/** Removes the files and the shared memory of a stopped server. */
export function removeServer({ folder }: Pick<PostgresServer, 'folder'>): void {
  // A killed server leaves its shared memory segment, and their number is limited.
  const memoryId = /^\d+ +(\d+)$/.exec(lockFile(folder)[6]?.trim() ?? '')?.[1];
  if (memoryId !== undefined) spawnSync('ipcrm', ['-m', memoryId]);
  rmSync(folder, { recursive: true, force: true });
}

async function spawnPostmaster(folder: string): Promise<ChildProcess> {
  const log = openSync(join(folder, 'server.log'), 'a');
  const postmaster = spawn(join(programsFolder()!, 'postgres'), ['-D', folder], {
    ...unprivileged,
    cwd: folder,
    env: {},
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  await once(postmaster, 'spawn');
  const watcher = watch(postmaster.pid!, folder);
  postmaster.once('exit', () => watcher.kill('SIGKILL'));
  return postmaster;
}

/** Waits for the end of the test process, then ends the server and removes its folder. */
const watchScript = `
trap '' HUP INT TERM
read -r nothing
kill -QUIT "$1"
kill -CONT "$1"
tries=0
while kill -0 "$1" && [ $((tries += 1)) -lt 100 ]; do sleep 0.1; done
rm -rf "$2"
`;

function watch(pid: number, folder: string): ChildProcess {
  const words = ['-c', watchScript, 'watch', String(pid), folder];
  const watcher = spawn('sh', words, { cwd: '/', stdio: ['pipe', 'ignore', 'ignore'] });
  watcher.unref();
  return watcher;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Waits until the server writes into its lock file that it is ready. */
async function ready(postmaster: ChildProcess, folder: string): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  while (true) {
    const lines = lockFile(folder);
    if (lines[0] === String(postmaster.pid) && lines[7]?.trim() === 'ready') return;
    if (hasEnded(postmaster) || performance.now() > deadline) {
      const log = readFileSync(join(folder, 'server.log'), 'utf8');
      throw new Error(`Postgres did not start: ${log.trim().split('\n').slice(-10).join('\n')}`);
    }
    await wait(10);
  }
}

/** The lines of the lock file; empty if it does not exist. */
function lockFile(folder: string): string[] {
  try {
    return readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The server and its child processes. It is halted first, so that it cannot fork meanwhile. */
function haltedFamily(pid: number): number[] {
  process.kill(pid, 'SIGSTOP');
  let all = processes();
  while (all.some((one) => one.pid === pid && !one.state.startsWith('T'))) all = processes();
  return all.filter((one) => one.pid === pid || one.parent === pid).map((one) => one.pid);
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

/** All processes except zombies. */
function processes(): Process[] {
  return (process.platform === 'linux' ? linuxProcesses() : psProcesses()).filter(
    ({ state }) => !state.startsWith('Z'),
  );
}

/** Small Linux images have no ps. */
function linuxProcesses(): Process[] {
  return globSync('/proc/[0-9]*/stat').flatMap((path) => {
    try {
      const [, pid, state, parent] = /^(\d+) .*\) (\w) (\d+)/s.exec(readFileSync(path, 'utf8'))!;
      return [{ pid: Number(pid), parent: Number(parent), state: state! }];
    } catch {
      return []; // The process ended meanwhile.
    }
  });
}

function psProcesses(): Process[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' });
  return [...stdout.matchAll(/(\d+) +(\d+) +(\S+)/g)].map(([, pid, parent, state]) => ({
    pid: Number(pid),
    parent: Number(parent),
    state: state!,
  }));
}
