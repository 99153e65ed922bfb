/** A folder with others' tools installed, and a real sandbox that they can call. */
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { openApiPath, sandboxAddress } from '@partner-network/contract/operations';
import { demoKeys } from '../../packages/operator/src/demo/data.ts';
import { openTerminal } from '../../test/documents/clone.ts';
import { root } from '../../test/sources.ts';
import { wholeRun } from '../lib/program.ts';

export const apiKey = demoKeys[0].text;
export const toolsFolder = join(import.meta.dirname, 'node_modules');
export const collectionFile = join(root, 'docs/reference/partners/partner-network.postman_collection.json');
export const documentFile = 'openapi.json';

/** Lines that a tool prints when all is well. Any other line counts as a warning. */
const usual = [
  /^$/,
  /^✨ openapi-typescript [\d.]+$/,
  /^🚀 openapi.json → \S+ \[\d+.*s\]$/,
  /^@hey-api\/openapi-ts v[\d.]+$/,
  /^\[Job 1\] ~ Generating\.\.\.$/,
  /^\[Job 1\] {3}\[1\] openapi.json$/,
  /^\[Job 1\] ✓ \S+ · \d+ files · \d+m?s$/,
  /^🍻 orval v[\d.]+ - A swagger client generator for typescript$/,
  /^network - 🎉 Partner Network - Your OpenAPI spec has been converted into ready to use orval!$/,
  /^Input file: {2}\S+$/,
  /^Writing to file: {2}(true|false) \S+ \{$/,
  /^ {2}(result: true|output: \[ \{ type: 'collection', data: \[Object\] \} \]|analytics: \{\}),?$/,
  /^\}$/,
  /^Conversion successful, collection written to file$/,
  // Newman uses a constant that Node 24 deprecates. It has nothing to do with the document.
  /^\(node:\d+\) \[DEP0176\] DeprecationWarning: fs\.F_OK is deprecated, use fs\.constants\.F_OK instead$/,
  /^\(Use `node --trace-deprecation \.\.\.` to show where the warning was created\)$/,
];

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** Everything that it starts ends with the program. */
export async function openStage() {
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-openapi-'));
  symlinkSync(toolsFolder, join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  const terminal = await openTerminal(folder);
  wholeRun.after(terminal.remove);
  const baseUrl = terminal.here(sandboxAddress);
  // Our Node comes first: some tools refuse an older one.
  const settings = `
    export PATH="${join(folder, 'node_modules/.bin')}:${join(root, 'node_modules/.bin')}:$PATH"
    export npm_config_ignore_scripts=true
    export PARTNER_NETWORK_BASE_URL=${baseUrl} PARTNER_NETWORK_API_KEY=${apiKey}
  `;

  /** Starts a server; resolves when its output matches `ready`. */
  const start = (script: string, ready: RegExp) => terminal.start(`${settings}\n${script}`, ready);

  /** Runs a command; resolves to its output. */
  const run = (command: string) => terminal.run(`${settings}\n${command} 2>&1`);

  await start(`exec ${join(root, 'node_modules/.bin/partner-network')} sandbox`, /Press Ctrl-C to stop\./);
  const document = await fetch(new URL(openApiPath, baseUrl));
  writeFileSync(join(folder, documentFile), await document.text());

  return {
    folder,
    baseUrl,
    terminal,
    settings,
    start,
    run,
    /** Runs a command that must not warn of anything. */
    runQuietly: async (command: string): Promise<void> => {
      const printed = await run(command);
      const unusual = stripVTControlCharacters(printed)
        .split('\n')
        .filter((line) => !usual.some((known) => known.test(line)));
      if (unusual.length > 0) throw new Error(unusual.join('\n'));
    },
  };
}
