import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { adminSettings } from '../../packages/operator/src/admin/settings.ts';
import { serveSettings } from '../../packages/service/src/settings.ts';
import { freePort } from '../../packages/testkit/servers/free-port.ts';
import { watchCommand } from '../../packages/testkit/watch/logs.ts';
import { files, read, root } from '../sources.ts';

export type Clone = Awaited<ReturnType<typeof openTerminal>>;

export interface RunningScript {
  /** The output so far. */
  readonly printed: string;
  stop(): Promise<void>;
}

/**
 * A fresh clone whose packages are links: `npm ci` would take ten seconds, and CI runs it in a clean clone
 * anyway.
 */
export async function makeClone(): Promise<Clone> {
  const folder = cloneFolder();
  linkModules(join(root, 'node_modules'), join(folder, 'node_modules'));
  return openTerminal(folder);
}

/** Links each package. Our own are relative links already, which lead to the clone's sources. */
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

/** Runs the commands of the documents in this folder. */
export async function openTerminal(folder: string) {
  const ports = {
    PORT: await freePort(),
    OPS_PORT: await freePort(),
    ADMIN_PORT: await freePort(),
    ADMIN_OPS_PORT: await freePort(),
  };
  const env = {
    ...freshEnvironment(),
    ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
    // Shared by the documents' commands, about eighty.
    NODE_COMPILE_CACHE: join(folder, '.compiled'),
  };
  /** Replaces the ports of the documents by free ports. */
  const here = (script: string) =>
    script
      .replaceAll(':8080', `:${ports.PORT}`)
      .replaceAll(':9090', `:${ports.OPS_PORT}`)
      .replaceAll(':8090', `:${ports.ADMIN_PORT}`)
      .replaceAll(':9091', `:${ports.ADMIN_OPS_PORT}`);
  const running = new Set<ChildProcess>();
  const spawnShell = (script: string) => {
    // Bash takes Node's pipe for a remote shell, and would read the system's start file.
    const words = ['--norc', '-euo', 'pipefail', '-c', direct(here(script))];
    const child = spawn('bash', words, { cwd: folder, env, detached: true });
    watchCommand(child, words);
    running.add(child);
    child.on('exit', () => running.delete(child));
    return child;
  };

  return {
    here,
    /** Resolves to the output of a script; rejects if it fails. */
    run: async (script: string) => {
      const child = spawnShell(script);
      const closed = once(child, 'close');
      const [printed, remarks] = await Promise.all([text(child.stdout), text(child.stderr)]);
      const [status] = await closed;
      if (status !== 0) throw new Error(`status ${status}: ${script}\n${printed}\n${remarks}`);
      return printed;
    },
    /** Starts a script that does not end by itself; resolves when its output matches `ready`. */
    start: (script: string, ready: RegExp) =>
      new Promise<RunningScript>((resolve, reject) => {
        const child = spawnShell(script);
        const closed = once(child, 'close');
        let printed = '';
        const onOutput = (chunk: Buffer) => {
          printed += chunk;
          if (!ready.test(printed)) return;
          const stop = async () => {
            process.kill(-child.pid!, 'SIGINT');
            await closed;
          };
          resolve({
            get printed() {
              return printed;
            },
            stop,
          });
        };
        child.stdout.on('data', onOutput);
        child.stderr.on('data', onOutput);
        child.on('error', reject);
        child.on('close', (status) => reject(new Error(`status ${status}: ${script}\n${printed}`)));
      }),
    /** Also kills what still runs, such as a server that did not become ready. */
    remove: () => {
      for (const { pid } of running) process.kill(-pid!, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/**
 * Replaces npx by what it would run, which saves half a minute for all documents. The README's own command
 * still uses npx.
 */
function direct(script: string): string {
  return script.replaceAll(
    /npx partner-network (?!--help)/g,
    'node_modules/.bin/node node_modules/.bin/partner-network ',
  );
}

/** Clones the repository, with uncommitted changes. */
function cloneFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-clone-'));
  execFileSync('git', ['clone', '--quiet', '--no-checkout', root, folder]);
  for (const file of files) cpSync(join(root, file), join(folder, file));
  execFileSync('git', ['reset', '--quiet'], { cwd: folder });
  return folder;
}

/** The environment without npm's variables, our Node, and our settings, which may name a real database. */
function freshEnvironment(): NodeJS.ProcessEnv {
  const settings = [...Object.values(serveSettings), ...Object.values(adminSettings)];
  const ours = new Set(settings.map(({ variable }) => variable));
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

/** The fenced blocks of a document, or of those sections whose headings match. */
export function blocksOf(document: string, sections = /^/): Block[] {
  const parts = read(document).split(/^## /m);
  const text = parts.filter((part) => sections.test(part)).join('');
  const found = text.matchAll(/^```(\w*)\n(.*?)^```$/gms);
  return [...found].map(([, language = '', block = '']) => ({ language, text: block.trim() }));
}

/** The shell blocks of a document, or of those sections whose headings match. */
export function shellBlocks(document: string, sections?: RegExp): string[] {
  return blocksOf(document, sections).flatMap(({ language, text }) => (language === 'sh' ? [text] : []));
}
