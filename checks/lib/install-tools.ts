/**
 * Installs tools that only some commands need, so that `npm ci` does not have to. Their folder has its own
 * package.json and lockfile. Usage: node checks/lib/install-tools.ts FOLDER…
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Runs `npm ci` in a folder of tools, unless its lockfile is installed already. Throws when npm fails. */
export function installTools(place: string): void {
  const folder = join(import.meta.dirname, '../..', place);
  const lockfile = readFileSync(join(folder, 'package-lock.json'));
  const digest = createHash('sha256').update(lockfile).digest('hex');
  const marker = join(folder, 'node_modules', '.installed-lockfile');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === digest) return;
  process.stderr.write(`Installing the tools of ${place} (npm ci).\n`);
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, error } = spawnSync('npm', words, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) {
    throw new Error(`"npm ci" failed in ${place}: ${error?.message ?? `exit status ${status}`}`);
  }
  writeFileSync(marker, digest);
}

if (import.meta.main) for (const place of process.argv.slice(2)) installTools(place);
