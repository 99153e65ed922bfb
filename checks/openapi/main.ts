/** Runs others' tools on the OpenAPI document of a sandbox, and the blocks of the page about them. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { installTools } from '../lib/install-tools.ts';
import { print, runProgram } from '../lib/program.ts';
import { type Check, checks } from './checks.ts';
import { page, runPage } from './page.ts';
import { openStage } from './stage.ts';

const about = `
Installs generators, a mock, a proxy and Postman's tools, starts a sandbox, and runs each tool on the OpenAPI
document of this sandbox. Also runs every block of ${page}.
Ends with status 1 if a tool fails or warns.`;

const pageCheck: Check = { tool: 'the page', promise: 'prints what it should', run: runPage };

async function runAll(): Promise<boolean> {
  installTools('checks/openapi');
  const stage = await openStage();
  cpSync(join(import.meta.dirname, 'programs'), stage.folder, { recursive: true });
  let isFine = true;
  for (const { tool, promise, run } of [...checks, pageCheck]) {
    const startedMs = performance.now();
    const outcome = await run(stage).then(
      () => 'ok',
      (error: Error) => `FAILED\n${error.message}`,
    );
    if (outcome !== 'ok') isFine = false;
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    print(`${tool.padEnd(22)}${promise.padEnd(34)}${seconds.padStart(5)} s  ${outcome}`);
  }
  return isFine;
}

await runProgram({ usage: 'npm run check -- openapi', about, options: {}, run: runAll });
