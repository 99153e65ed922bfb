/** One server process of Postgres on a data folder of its own: started, stopped, killed, frozen. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, globSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { programsFolder, serverUser } from './postgres-programs.ts';

export interface PostgresServer {
  readonly port: number;
  readonly folder: string;
  url(database?: string): string;
  isRunning(): boolean;
  /** Resolves when it is down. */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
  /** On the same folder and port; resolves when it answers. */
  start(): Promise<void>;
  /** SIGKILL to the server and all processes of its connections. */
  kill(): Promise<void>;
  /** It keeps its connections and takes new ones, but answers nothing until it is thawed. */
  freeze(): void;
  thaw(): void;
}

const startTimeoutMs = 30_000;

/** A server on this data folder, which is not started yet. */
export function serverIn(folder: string, port: number): PostgresServer {
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
    isRunning: () => postmaster !== undefined && !hasEnded(postmaster),
    start: async () => {
      postmaster = await spawnPostmaster(folder);
      await ready(postmaster, folder);
    },
    stop: async (how = 'fast') => {
      thaw();
      if (postmaster === undefined || hasEnded(postmaster)) return;
      postmaster.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
      await once(postmaster, 'exit');
    },
    kill: async () => {
      if (postmaster === undefined || hasEnded(postmaster)) return;
      const pids = haltedFamily(postmaster.pid!);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      await once(postmaster, 'exit');
      // A successor refuses to start while one of them still has the shared memory.
      while (processes().some(({ pid }) => pids.includes(pid))) await wait(5);
      frozen = [];
    },
    freeze: () => {
      frozen = haltedFamily(postmaster!.pid!);
      for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    },
    thaw,
  };
}

/** Removes what a server that is down leaves behind. */
export function removeServer({ folder }: Pick<PostgresServer, 'folder'>): void {
  // One that was killed could not give back its bit of shared memory, of which a machine has only so many.
  const memoryId = /^\d+ +(\d+)$/.exec(lockFile(folder)[6]?.trim() ?? '')?.[1];
  if (memoryId !== undefined) spawnSync('ipcrm', ['-m', memoryId]);
  rmSync(folder, { recursive: true, force: true });
}

async function spawnPostmaster(folder: string): Promise<ChildProcess> {
  const log = openSync(join(folder, 'server.log'), 'a');
  const postmaster = spawn(join(programsFolder()!, 'postgres'), ['-D', folder], {
    ...serverUser(),
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

/** Reads from us until we are gone, in whatever way; then ends the server and removes its folder. */
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

/** The server writes into its lock file how far it is. */
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

/** None while there is no such file; a server that starts removes that of one that was killed. */
function lockFile(folder: string): string[] {
  try {
    return readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The server and its children. It is stopped first, so that it cannot make another one meanwhile. */
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

/** All but those that are dead and only not buried yet. */
function processes(): Process[] {
  return (process.platform === 'linux' ? linuxProcesses() : psProcesses()).filter(
    ({ state }) => !state.startsWith('Z'),
  );
}

/** Small images of Linux have no ps. */
function linuxProcesses(): Process[] {
  return globSync('/proc/[0-9]*/stat').flatMap((path) => {
    try {
      const [, pid, state, parent] = /^(\d+) .*\) (\w) (\d+)/s.exec(readFileSync(path, 'utf8'))!;
      return [{ pid: Number(pid), parent: Number(parent), state: state! }];
    } catch {
      return []; // It ended while we were looking.
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
