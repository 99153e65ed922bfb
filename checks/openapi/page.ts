/** Runs every block of the page "Use your own tools". */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { freePort } from '../../packages/testkit/servers/free-port.ts';
import { blocksOf } from '../../test/documents/clone.ts';
import { collectionFile, type Stage, toolsFolder } from './stage.ts';

export const page = 'docs/how-to/partners/use-your-own-tools.md';

/** What happens with each block: it is saved under a name, prints something, or goes on running. */
type Step = { readonly save: string } | { readonly prints: RegExp } | { readonly starts: RegExp };

/** One for each block of the page, in its order. */
export const steps: readonly Step[] = [
  { prints: /^$/ },
  { prints: /added \d+ packages.*🚀 /su },
  { save: 'brands.mts' },
  { prints: /^shop-1 Golden Bakery\n(shop-\d+ .+\n){119}$/ },
  { prints: /Invalid limit.*assertions │ +6 │ +0 │/s },
  { starts: /Prism is listening/ },
  { prints: /^\{"brands":\[\{"id":"BRAND_\w+","name":"Golden Greens",.*\}\]\}$/ },
  { prints: /^\{"errors":.*"RATE_LIMITED".*\}\{"errors":.*"GRANT_EXPIRED".*\}$/ },
  { starts: /Prism is listening/ },
  { prints: /^\{"brands":\[\{.*"Golden Bakery".*\{.*"status":422,.*limit must be <= 100.*\}$/ },
];

export async function runPage({ folder: parent, settings, terminal, start }: Stage): Promise<void> {
  const folder = join(parent, 'page');
  mkdirSync(folder);
  copyFileSync(collectionFile, join(folder, basename(collectionFile)));
  const ports = { 4010: await freePort(), 4011: await freePort() };
  const blocks = blocksOf(page);
  assert.equal(blocks.length, steps.length, `${page} has another number of blocks`);
  const [variables] = blocks;
  for (const [index, { text }] of blocks.entries()) {
    const step = steps[index]!;
    if ('save' in step) {
      writeFileSync(join(folder, step.save), text);
      continue;
    }
    const here = text.replaceAll(/\b401[01]\b/g, (port) => String(ports[port as '4010' | '4011']));
    const script = `${settings}\ncd ${folder}\n${variables!.text}\n${installed(here)}`;
    if ('starts' in step) await start(script, step.starts);
    else assert.match(await terminal.run(script), step.prints, text);
  }
}

/** Replaces npx by the installed tool, if its version is the one that the page names. */
function installed(script: string): string {
  return script.replaceAll(/npx (\S+)@(\d+)/g, (_, name, major) => {
    const { version, bin } = JSON.parse(readFileSync(join(toolsFolder, name, 'package.json'), 'utf8'));
    assert.equal(version.split('.')[0], major, `${page} names ${name}@${major}`);
    return `node ${join(toolsFolder, name, Object.values<string>(bin)[0]!)}`;
  });
}
