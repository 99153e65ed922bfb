/** Plays the scenario in one runtime: a program on the command line, a page, or a worker of a page. */
import { execFile } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { transformSync } from 'esbuild';
import type { Page } from 'playwright-core';
import type { PackedClient } from '../support/packed.ts';
import type { Proof, Stage } from './scenario.ts';
import type { Files } from './stage.ts';

const execute = promisify(execFile);

const scenario = transformSync(readFileSync(new URL('scenario.ts', import.meta.url), 'utf8'), {
  loader: 'ts',
  target: 'es2022',
}).code;

/** Plays both programs of the package: the imported and the required one. */
const program = `
const stage = require('./stage.json');
const play = async () => {
  const { prove } = await import('./scenario.mjs');
  const imported = await import('@partner-network/client');
  const required = require('@partner-network/client');
  if (imported.PartnerNetwork === required.PartnerNetwork) throw new Error('One program was loaded twice.');
  console.log(JSON.stringify([await prove(imported, stage), await prove(required, stage)]));
};
play().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
`;

export async function playOnCommandLine(
  [command = '', ...words]: readonly string[],
  { folder }: PackedClient,
  stage: Stage,
): Promise<Proof[]> {
  writeFileSync(join(folder, 'scenario.mjs'), scenario);
  writeFileSync(join(folder, 'program.cjs'), program);
  // In a file: an error would repeat the command line, and with it the key.
  writeFileSync(join(folder, 'stage.json'), JSON.stringify(stage));
  // Flags of this Node are not for another one.
  const env = { ...process.env, NODE_OPTIONS: undefined };
  const { stdout } = await execute(command, [...words, 'program.cjs'], { cwd: folder, env, timeout: 60_000 });
  return JSON.parse(stdout);
}

/** The files of a page. The client is as published, without a bundler. */
export function browserFiles({ installed }: PackedClient): Files {
  const modules = globSync('dist/*.js', { cwd: installed });
  return {
    ...Object.fromEntries(modules.map((file) => [`/${file}`, readFileSync(join(installed, file), 'utf8')])),
    '/page.html': '<!doctype html><title>The client in a page</title><link rel="icon" href="data:,">',
    '/scenario.js': scenario,
    '/worker.js': `
      import * as client from './dist/index.js';
      import { prove } from './scenario.js';
      const raise = (error) => setTimeout(() => { throw error; });
      onmessage = ({ data }) => prove(client, data).then(postMessage, raise);
    `,
  };
}

export async function playInPage(page: Page, stage: Stage): Promise<Proof[]> {
  const play = `Promise.all([import('/dist/index.js'), import('/scenario.js')])
    .then(([client, { prove }]) => prove(client, ${JSON.stringify(stage)}))`;
  return [await page.evaluate<Proof>(play)];
}

export async function playInWorker(page: Page, stage: Stage): Promise<Proof[]> {
  const play = `new Promise((resolve, reject) => {
    const worker = new Worker('/worker.js', { type: 'module' });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(${JSON.stringify(stage)});
  })`;
  return [await page.evaluate<Proof>(play)];
}
