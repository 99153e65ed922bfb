/** Finds a Postgres that has Citus on this machine, or builds Citus for one from its sources. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  closeSync,
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
import { killAfter, type Lifetime } from '../fixtures/lifetime.ts';
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
const packages =
  'apt-get install libicu-dev libkrb5-dev liblz4-dev libpam0g-dev libselinux1-dev libssl-dev libxslt1-dev ' +
  'libzstd-dev';
const progressMs = 10_000;

/** Whether a Postgres with Citus is installed. From then on, servers are started with its programs. */
export function findCitus(): boolean {
  const hasCitus = (folder: string) => existsSync(join(configOf(folder, 'pkglibdir'), 'citus.so'));
  const folder = candidates().find(hasCitus);
  if (folder !== undefined) process.env.TEST_POSTGRES_PROGRAMS = folder;
  return folder !== undefined;
}

/** What this machine lacks to build Citus, in a sentence. */
export function cannotBuildCitus(): string | false {
  const { CITUS_SOURCE: source } = process.env;
  if (!source) {
    return (
      `No Postgres on this machine has Citus. Install Citus ${testedVersion}, or set CITUS_SOURCE to a folder ` +
      `or an archive with its sources: ${sources}.`
    );
  }
  if (!existsSync(source)) return `CITUS_SOURCE names a file that does not exist: ${source}.`;
  const folder = buildable();
  if (folder === undefined)
    return `Citus supports Postgres up to version ${newestPostgres}: ${howToGetPrograms}.`;
  if (!existsSync(join(configOf(folder, 'includedir-server'), 'postgres.h'))) {
    const name = `postgresql-server-dev-${versionIn(folder)}`;
    return `Building Citus needs the header files of the server: "apt-get install ${name}".`;
  }
  for (const [names, name] of [
    [['cc', 'gcc', 'clang'], 'a C compiler'],
    [['make', 'gmake'], 'make'],
  ] as const) {
    if (programsOnPath(names).length === 0)
      return `Building Citus needs ${name}: "apt-get install build-essential".`;
  }
  const target = configOf(folder, 'pkglibdir');
  return !isWritable(target) && `Building Citus needs a user that may write to ${target}, such as root.`;
}

/** Builds and installs Citus for a Postgres of this machine, in a copy of the sources: about five minutes. */
export async function buildCitus(t: Lifetime, say: (text: string) => void): Promise<void> {
  const pgConfig = programOf(buildable()!, 'pg_config');
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-citus-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const run = async (name: string, command: string, ...words: string[]) => {
    say(`${name} …`);
    const log = join(folder, 'build.log');
    const output = openSync(log, 'a');
    const child = spawn(command, words, {
      cwd: folder,
      env: { ...process.env, PG_CONFIG: pgConfig },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    killAfter(t, child);
    const [status] = await once(child, 'exit');
    if (status !== 0) throw new Error(failureOf(name, readFileSync(log, 'utf8')));
  };
  const source = process.env.CITUS_SOURCE!;
  if (statSync(source).isDirectory()) cpSync(source, folder, { recursive: true });
  else
    await run('Unpacking the sources of Citus', 'tar', '-xf', source, '--strip-components=1', '-C', folder);
  await run('Configuring Citus', './configure', '--without-libcurl');
  const files = (pattern: string) => globSync(pattern, { cwd: folder }).length;
  const all = files('src/**/*.c');
  const started = Date.now();
  const progress = setInterval(() => {
    const seconds = Math.round((Date.now() - started) / 1_000);
    say(`Compiled ${files('src/**/*.o')} of at most ${all} files of Citus in ${seconds} s.`);
  }, progressMs);
  try {
    await run('Removing what was compiled before', 'make', 'clean');
    await run('Compiling Citus', 'make', `-j${availableParallelism()}`);
  } finally {
    clearInterval(progress);
  }
  await run('Installing Citus', 'make', 'install');
}

/** The last lines say what failed, mostly a library that is not installed. */
function failureOf(step: string, log: string): string {
  const lines = log.trimEnd().split('\n');
  const error = lines.findLast((line) => /error:|not found/i.test(line));
  return (
    `${lines.slice(-20).join('\n')}\n\n${step} failed${error === undefined ? '' : ` (${error.trim()})`}. ` +
    `If a library is missing: "${packages}".`
  );
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

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
