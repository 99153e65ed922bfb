import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8' });
}

/** A fresh clone, with what is not committed yet on top, so that the test is about the files at hand. */
export function makeClone(): string {
  const clone = mkdtempSync(join(tmpdir(), 'partner-network-clone-'));
  git('clone', '--quiet', '.', clone);
  const listed = (flag: string) =>
    git('ls-files', '-z', '--exclude-standard', flag).split('\0').filter(Boolean);
  const deleted = listed('--deleted');
  for (const file of [...listed('--modified'), ...listed('--others')]) {
    if (!deleted.includes(file)) cpSync(join(root, file), join(clone, file));
  }
  for (const file of deleted) rmSync(join(clone, file), { force: true });
  return clone;
}

/** The environment of a person at a new terminal: without the npm that runs the tests, or our Node. */
const freshEnvironment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|INIT_CWD$)/.test(name)),
  ),
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter),
  npm_config_prefer_offline: 'true',
};

/** The shell commands of a document, a text for each fenced block. */
export function shellBlocks(document: string): string[] {
  const text = readFileSync(join(root, document), 'utf8');
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block.trim());
}

/** Runs a script to its end and resolves to what it printed; rejects when it fails. */
export function runShell(script: string, folder: string): Promise<string> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env: freshEnvironment });
  let printed = '';
  let remarks = '';
  child.stdout.on('data', (chunk) => (printed += chunk));
  child.stderr.on('data', (chunk) => (remarks += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => {
      if (status === 0) resolve(printed);
      else reject(new Error(`status ${status}: ${script}\n${printed}\n${remarks}`));
    });
  });
}

export interface RunningShell {
  readonly printed: string;
  stop(): Promise<void>;
}

/** Starts a script that does not end by itself, and resolves when it has printed that it is ready. */
export function startShell(script: string, folder: string, ready: RegExp): Promise<RunningShell> {
  const child = spawn('bash', ['-c', script], { cwd: folder, env: freshEnvironment, detached: true });
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  let printed = '';
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      printed += chunk;
      if (!ready.test(printed)) return;
      resolve({
        printed,
        stop: () => {
          process.kill(-child.pid!, 'SIGINT');
          return closed;
        },
      });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', reject);
    child.on('close', (status) => reject(new Error(`status ${status}: ${script}\n${printed}`)));
  });
}
