/** Runs one scenario with the packed client in every supported runtime, against a real sandbox. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import {
  browserFiles,
  playInPage,
  playInWorker,
  playOnCommandLine,
} from '../../packages/client/test/runtimes/play.ts';
import { expectedProof, type Proof, type Stage } from '../../packages/client/test/runtimes/scenario.ts';
import { startStage } from '../../packages/client/test/runtimes/stage.ts';
import { type PackedClient, packClient } from '../../packages/client/test/support/packed.ts';
import { launchChromium } from '../../packages/testkit/servers/chromium.ts';
import { print, runProgram, wholeRun } from '../lib/program.ts';

interface Runtime {
  readonly name: string;
  /** Rejects if the runtime is not available. */
  version(): Promise<string>;
  play(): Promise<Proof[]>;
}

const about = `
Packs the client and runs one scenario with it in Node 20, 22 and 24, Deno, Bun, and a page and a worker of
Chromium. Skips a runtime that is not available here. Ends with status 1 if a runtime fails.`;

async function runAll(): Promise<boolean> {
  const packed = await packClient();
  const stage = await startStage(browserFiles(packed));
  wholeRun.after(() => stage.close());
  let isFine = true;
  for (const runtime of [...programs(packed, stage), ...browsers(`${stage.origin}/page.html`, stage)]) {
    const outcome = await attempt(runtime);
    if (outcome.startsWith('FAILED')) isFine = false;
    print(`${runtime.name.padEnd(18)}${outcome}`);
  }
  return isFine;
}

async function attempt({ version, play }: Runtime): Promise<string> {
  const found = await version().catch((error: Error) => error);
  if (found instanceof Error) return `skipped: ${found.message.split('\n')[0]}`;
  try {
    const proofs = await play();
    assert.ok(proofs.length > 0, 'nothing was played');
    for (const proof of proofs) assert.deepEqual(proof, expectedProof);
    return `ok       ${found}`;
  } catch (error) {
    return `FAILED   ${found}\n${error instanceof Error ? error.message : error}`;
  }
}

/** Fetched from npm. Deno permits the client only the network, and reading files to load it. */
function programs(client: PackedClient, on: Stage): Runtime[] {
  const deno = ['deno', 'run', '--no-prompt', '--allow-read', '--allow-net=127.0.0.1'];
  const commands: [name: string, source: string, command: string[]][] = [
    ['Node 20.0', 'node@20.0.0', ['node']],
    ['Node 20', 'node@20', ['node']],
    ['Node 22', 'node@22', ['node']],
    ['Node 24', 'node@24', ['node']],
    ['Deno', 'deno@2.9.6', deno],
    ['Bun', 'bun@1.4.4', ['bun']],
  ];
  return commands.map(([name, source, command]) => {
    const npx = ['--yes', `--package=${source}`, '--'];
    return {
      name,
      version: async () => {
        const words = [...npx, command[0]!, '--version'];
        const { stdout } = await promisify(execFile)('npx', words, { cwd: client.folder });
        return stdout.split('\n')[0]!;
      },
      play: () => playOnCommandLine(['npx', ...npx, ...command], client, on),
    };
  });
}

/** A page of the stage in the machine's Chromium. */
function browsers(address: string, on: Stage): Runtime[] {
  const inPage = (play: (page: Page, stage: Stage) => Promise<Proof[]>) => async () => {
    await using browser = await launchChromium();
    const page = await browser.newPage();
    await page.goto(address);
    return await play(page, on);
  };
  const version = async () => {
    await using browser = await launchChromium();
    return browser.version();
  };
  return [
    { name: 'Chromium, page', version, play: inPage(playInPage) },
    { name: 'Chromium, worker', version, play: inPage(playInWorker) },
  ];
}

await runProgram({ usage: 'npm run check -- client-runtimes', about, options: {}, run: runAll });
