/** Finds a Postgres that has Citus on this machine, or builds Citus for one from its sources. */
import { type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Lifetime } from '../fixtures/lifetime.ts';
import {
  foldersOfPrograms,
  howToGetPrograms,
  oldestVersion,
  versionIn,
} from '../servers/postgres-programs.ts';
import { programsOnPath } from '../servers/programs.ts';

/** The version that this is tested with. It supports Postgres 16 and earlier. */
export const testedVersion = '12.1';
const newestPostgres = 16;
const sources = 'the public repository citusdata/citus at v12.1.12';
const libraries =
  'apt-get install libicu-dev libkrb5-dev liblz4-dev libpam0g-dev libpq-dev libselinux1-dev libssl-dev ' +
  'libxslt1-dev libzstd-dev';

/** Whether a Postgres with Citus is installed. From then on, servers are started with its programs. */
export function findCitus(): boolean {
  const hasCitus = (folder: string) => existsSync(join(configOf(folder, 'pkglibdir'), 'citus.so'));
  const folder = candidates().find(hasCitus);
  if (folder !== undefined) process.env.TEST_POSTGRES_PROGRAMS = folder;
  return folder !== undefined;
}

/** What this machine lacks to build Citus, in a sentence. */
export function cannotBuildCitus(): string | false {
  const source = process.env.CITUS_SOURCE;
  if (!source) {
    return (
      `No Postgres on this machine has Citus. Install Citus ${testedVersion}, or set CITUS_SOURCE to ` +
      `a folder or an archive of its sources, ${sources}.`
    );
  }
  if (!existsSync(source)) return `CITUS_SOURCE names a file that does not exist: ${source}.`;
  const folder = buildable();
  if (folder === undefined) return `Citus supports Postgres up to ${newestPostgres}: ${howToGetPrograms}.`;
  const headers = configOf(folder, 'includedir-server');
  const target = configOf(folder, 'pkglibdir');
  if (!existsSync(join(headers, 'postgres.h'))) {
    return `Building Citus needs "apt-get install postgresql-server-dev-${versionIn(folder)}".`;
  }
  if (programsOnPath(['cc', 'gcc', 'clang']).length === 0 || programsOnPath(['make']).length === 0) {
    return 'Building Citus needs a C compiler and make: "apt-get install build-essential".';
  }
  try {
    accessSync(target, constants.W_OK);
    return false;
  } catch {
    return `Building Citus needs a user that may write to ${target}, such as root.`;
  }
}

// Without LLVM, which takes half of the time.
const build =
  'set -e; ./configure --without-libcurl; make clean; make -j"$1" with_llvm=no; make install with_llvm=no';

/** Builds and installs Citus for a Postgres of this machine, in a copy of the sources, or says why not. */
export async function buildCitus(t: Lifetime, say: (text: string) => void): Promise<string | false> {
  const source = process.env.CITUS_SOURCE!;
  const programs = buildable()!;
  process.env.TEST_POSTGRES_PROGRAMS = programs;
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-citus-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, 'build.log');
  const output = openSync(log, 'a');
  const run = async (command: string, ...words: string[]) => {
    const env = { ...process.env, PG_CONFIG: programOf(programs, 'pg_config') };
    const stdio: StdioOptions = ['ignore', output, output];
    const child = spawn(command, words, { cwd: folder, env, stdio, detached: true });
    let isRunning = true;
    // With all processes that it started.
    t.after(() => void (isRunning && process.kill(-child.pid!, 'SIGKILL')));
    const [status] = await once(child, 'exit');
    isRunning = false;
    return status === 0;
  };
  say(`Building Citus from ${source}, which takes about five minutes.`);
  const isFolder = statSync(source).isDirectory();
  if (isFolder) cpSync(source, folder, { recursive: true });
  const isUnpacked = isFolder || (await run('tar', '-xf', source, '--strip-components=1'));
  const count = (pattern: string) => globSync(pattern, { cwd: folder }).length;
  const files = count('src/**/*.c');
  const progress = setInterval(() => say(`Compiled ${count('src/**/*.o')} of ${files} files.`), 15_000);
  const isBuilt = isUnpacked && (await run('sh', '-c', build, 'sh', String(availableParallelism())));
  clearInterval(progress);
  const lastLines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-12).join('\n');
  return !isBuilt && `${lastLines}\nCitus could not be built. If a library is missing, run "${libraries}".`;
}

function candidates(): string[] {
  const given = process.env.TEST_POSTGRES_PROGRAMS;
  return (given ? [given] : foldersOfPrograms()).filter((folder) => versionIn(folder) >= oldestVersion);
}

function buildable(): string | undefined {
  return candidates().find(
    (folder) => versionIn(folder) <= newestPostgres && existsSync(programOf(folder, 'pg_config')),
  );
}

/** A folder of programs may have links to some of them only. */
function programOf(folder: string, name: string): string {
  return join(dirname(realpathSync(join(folder, 'postgres'))), name);
}

function configOf(folder: string, name: 'pkglibdir' | 'includedir-server'): string {
  const { status, stdout } = spawnSync(programOf(folder, 'pg_config'), [`--${name}`], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : programOf(folder, '../lib');
}
