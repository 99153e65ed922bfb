import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serveSettings } from '../../packages/server/src/serve/settings.ts';
import { freePort } from '../../packages/testkit/servers/free-port.ts';
import { watchCommand } from '../../packages/testkit/watch/logs.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A folder to run the documents' commands in, as a person at a new terminal would. */
export interface Clone {
  /** A script or address of the documents, with ports that are free here instead of theirs. */
  here(text: string): string;
  /** Runs a script to its end and resolves to what it printed; rejects when it fails. */
  run(script: string): Promise<string>;
  /** Starts a script that does not end by itself, and resolves when it has printed that it is ready. */
  start(script: string, ready: RegExp): Promise<RunningScript>;
  remove(): void;
}

export interface RunningScript {
  readonly printed: string;
  stop(): Promise<void>;
}

/**
 * A fresh clone, with what `npm ci` installs there: linked, for to install it once more takes ten seconds,
 * and CI begins by doing so in a clean clone anyway.
 */
export async function makeClone(): Promise<Clone> {
  const folder = cloneFolder();
  linkModules(join(root, 'node_modules'), join(folder, 'node_modules'));
  return openTerminal(folder);
}

/** A link to each package, but for our own, which are links already, and lead to the clone's from there. */
function linkModules(from: string, to: string): void {
  mkdirSync(to);
  const entries = readdirSync(from, { withFileTypes: true });
  for (const { name } of entries.filter((entry) => !entry.isSymbolicLink())) {
    if (name === '.bin' || name.startsWith('@')) linkModules(join(from, name), join(to, name));
    else symlinkSync(join(from, name), join(to, name));
  }
  for (const { name } of entries.filter((entry) => entry.isSymbolicLink())) {
    symlinkSync(readlinkSync(join(from, name)), join(to, name));
  }
}

export async function openTerminal(folder: string): Promise<Clone> {
  const [port, operationsPort] = [await freePort(), await freePort()];
  const env = {
    ...freshEnvironment(),
    PORT: String(port),
    OPS_PORT: String(operationsPort),
    // What Node compiled for one command serves the next: the documents have some eighty of them.
    NODE_COMPILE_CACHE: join(folder, '.compiled'),
  };
  const here = (text: string) =>
    text.replaceAll(':8080', `:${port}`).replaceAll(':9090', `:${operationsPort}`);
  const spawnShell = (script: string) => {
    const words = ['-euo', 'pipefail', '-c', direct(here(script))];
    const child = spawn('bash', words, { cwd: folder, env, detached: true });
    watchCommand(child, words);
    return child;
  };

  return {
    here,
    run: (script) =>
      new Promise((resolve, reject) => {
        const child = spawnShell(script);
        let printed = '';
        let remarks = '';
        child.stdout.on('data', (chunk) => (printed += chunk));
        child.stderr.on('data', (chunk) => (remarks += chunk));
        child.on('error', reject).on('close', (status) => {
          if (status === 0) resolve(printed);
          else reject(new Error(`status ${status}: ${script}\n${printed}\n${remarks}`));
        });
      }),
    start: (script, ready) =>
      new Promise((resolve, reject) => {
        const child = spawnShell(script);
        const closed = once(child, 'close');
        let printed = '';
        const read = (chunk: Buffer) => {
          printed += chunk;
          if (!ready.test(printed)) return;
          const stop = async () => {
            process.kill(-child.pid!, 'SIGINT');
            await closed;
          };
          resolve({ printed, stop });
        };
        child.stdout.on('data', read);
        child.stderr.on('data', read);
        child.on('error', reject);
        child.on('close', (status) => reject(new Error(`status ${status}: ${script}\n${printed}`)));
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * What npx would run, without npx, which takes longer to find it than that takes: half a minute for all the
 * documents. That npx finds it is seen by the README's own command.
 */
function direct(script: string): string {
  return script.replaceAll(
    /npx partner-network (?!--help)/g,
    'node_modules/.bin/node node_modules/.bin/partner-network ',
  );
}

/** A clone with what is not committed yet on top, so that the test is about the files at hand. */
function cloneFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-clone-'));
  const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' });
  const listed = (flag: string) =>
    git('ls-files', '-z', '--exclude-standard', flag).split('\0').filter(Boolean);
  git('clone', '--quiet', '.', folder);
  const deleted = listed('--deleted');
  for (const file of [...listed('--modified'), ...listed('--others')]) {
    if (!deleted.includes(file)) cpSync(join(root, file), join(folder, file));
  }
  for (const file of deleted) rmSync(join(folder, file), { force: true });
  return folder;
}

/** Without the npm that runs the tests, our Node, and our settings, which may name a real database. */
function freshEnvironment(): NodeJS.ProcessEnv {
  const ours = new Set(Object.values(serveSettings).map(({ variable }) => variable));
  const ofNpm = /^(npm_(?!config_(registry|cafile|cache|proxy|https_proxy)$)|NODE_|INIT_CWD$)/;
  const kept = Object.entries(process.env).filter(([name]) => !ours.has(name) && !ofNpm.test(name));
  const folders = (process.env.PATH ?? '').split(delimiter);
  return {
    ...Object.fromEntries(kept),
    PATH: folders.filter((folder) => !folder.includes('node_modules')).join(delimiter),
    npm_config_prefer_offline: 'true',
  };
}

export interface Block {
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a document, in their order. */
export function blocksOf(document: string): Block[] {
  const text = readFileSync(join(root, document), 'utf8');
  const found = text.matchAll(/^```(\w*)\n(.*?)^```$/gms);
  return [...found].map(([, language = '', block = '']) => ({ language, text: block.trim() }));
}

/** The shell commands of a document, a text for each fenced block. */
export function shellBlocks(document: string): string[] {
  return blocksOf(document).flatMap(({ language, text }) => (language === 'sh' ? [text] : []));
}
