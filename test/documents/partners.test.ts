/**
 * Runs every command and every program of the pages for partners, of the README of the client for JavaScript
 * and of its doc comments. They run against a sandbox, in a folder with nothing but the installed packages.
 */
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { curlOf } from '@partner-network/contract/openapi/listings';
import { listings } from '@partner-network/contract/operations';
import { page as toolsPage, steps as toolsSteps } from '../../checks/openapi/page.ts';
import { packClient } from '../../packages/client/test/support/packed.ts';
import { needsPython, runPython } from '../../packages/testkit/clients/python.ts';
import { pageFor, pagesFor, proseOf, read, root, sources } from '../sources.ts';
import { type Block, blocksOf, type Clone, openTerminal, type RunningScript } from './clone.ts';
import { pages } from './partner-pages.ts';
import { checkSandboxPage, checkScenarios } from './sandbox-page.ts';

/** `npm run check -- openapi` runs the blocks of one page, which need others' tools. */
const allPages = [...Object.keys(pages), basename(toolsPage)];

const documentOf = (page: string) => pageFor('partners', page.replace('.md', ''));
const javascriptReadme = 'packages/client/README.md';

/** The `@example` programs in the client's sources, and their output. */
const examples = sources
  .filter((file) => file.startsWith('packages/client/src/'))
  .flatMap((file) => [...read(file).matchAll(/^ *\* ```ts\n(.*?)^ *\* ```$/gms)])
  .map(([, lines = '']) => lines.replaceAll(/^ *\* ?/gm, ''));
const exampleOutputs = [
  '400 VALUE_TOO_HIGH limit\n',
  'Little Greens\n',
  'true\n',
  '-4321 USD\n',
  '200 1\n',
  '2\n',
  'shop-3\n',
  '50\n50\n20\n',
];

/** Ends the output of each block and of each example. */
const separator = '\u001e';

let partner: Clone;
let sandbox: RunningScript | undefined;
before(async () => {
  const { folder } = await packClient();
  partner = await openTerminal(folder);
  for (const name of ['.bin', '@types']) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  const settings = { extends: join(root, 'tsconfig.json'), include: ['*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  for (const document of [...Object.keys(pages).map(documentOf), javascriptReadme]) {
    const program = programOf(document);
    if (program !== '') writeFileSync(join(folder, programFile(document)), program);
  }
  for (const { id } of listings)
    writeFileSync(join(folder, `${id}.ts`), read(`docs/samples/${id}.client.js`));
  for (const [index, program] of examples.entries()) {
    writeFileSync(join(folder, `example-${index}.ts`), withClient(program));
  }
  // All in one process, because a start takes 150 ms of CPU.
  const one = (index: number) => `await import('./example-${index}.ts');\nconsole.log('${separator}');\n`;
  writeFileSync(join(folder, 'examples.ts'), examples.map((_, index) => one(index)).join(''));
  const [rehearsed = ''] = programsIn(documentOf('rehearse-failures.md'));
  writeFileSync(join(folder, 'sync.mjs'), rehearsed);
  const [required = ''] = programsIn(javascriptReadme, ['cjs']);
  writeFileSync(join(folder, 'required.cjs'), required);
  sandbox = await partner.start('npx partner-network sandbox', /Press Ctrl-C to stop\./);
});
after(async () => {
  await sandbox?.stop();
  partner.remove();
});

const programFile = (document: string) => basename(document).replace('.md', '.ts');

function programsIn(document: string, languages = ['ts', 'js']): string[] {
  return blocksOf(document).flatMap(({ language, text }) => (languages.includes(language) ? [text] : []));
}

/** All programs of a page, joined. */
function programOf(document: string, languages?: string[]): string {
  return withClient(programsIn(document, languages).join('\n\n'), languages);
}

/** A program that needs a client, after the lines of the quick start that create one. */
function withClient(program: string, languages?: string[]): string {
  if (!program.includes('network.') || /^(const )?network =/m.test(program)) return program;
  const [quickStart = ''] = programsIn(documentOf('quick-start.md'), languages);
  return `${quickStart.slice(0, quickStart.search(/^for /m))}\n${program}`;
}

const [settings = { text: '' }] = blocksOf(documentOf('quick-start.md'));

/** Runs a page's commands in one shell; resolves to the output of each block. */
async function printedBy(blocks: readonly Block[]): Promise<string[]> {
  // The test of the package packs what this address offers. To install it, npm needs a registry.
  const ours = blocks.filter(({ text }) => !/^npm install http/.test(text));
  const commands = ours.filter(({ language }) => language === 'sh').map(({ text }) => text);
  const script = commands.map((text) => `${text}\nprintf '${separator}'`).join('\n');
  return (await partner.run(`${settings.text}\n${script}`)).split(separator).slice(0, -1);
}

/** An answer without its cursor, which differs each time. */
function parsed(json: string): object {
  return JSON.parse(json, (name, value) => (name === 'cursor' ? '…' : value));
}

test('every page for partners is tested', () => {
  assert.deepEqual(
    allPages.toSorted(),
    pagesFor('partners')
      .map((path) => basename(path))
      .sort(),
  );
});

test('npm run check -- openapi runs every block of use-your-own-tools.md', () => {
  const languages = toolsSteps.map((step) => ('save' in step ? 'ts' : 'sh'));
  assert.deepEqual(
    blocksOf(toolsPage).map(({ language }) => language),
    languages,
  );
});

test('the programs of the documents compile', async () => {
  await partner.run('node_modules/.bin/tsc');
});

test('the sandbox gives the keys, customers and requests of sandbox.md the answers shown', async () => {
  const set = [...partner.here(settings.text).matchAll(/=(.*)/g)].map(([, value]) => value!);
  await checkSandboxPage(set, pages['sandbox.md']!.commands!);
});

test('sandbox.md says of each scenario what happens and what a client must do', checkScenarios);

test('the programs of the README of the client for JavaScript print what they should', async () => {
  const brands = /^Little Greens\n.+\na page of 100\na page of 20\n/;
  const rest = /125050 USD\n9999 USD\n4200000 USD\nnull\nAsk the customer: GRANT_REVOKED\n200 1\n0\n$/;
  const printed = await runProgram(javascriptReadme);
  assert.match(printed, brands);
  assert.match(printed, rest);
});

test('the program of the README that requires the client for JavaScript prints what it should', async () => {
  assert.equal(await runProgram('required.cjs'), 'Little Greens\n');
});

test("the examples in the client's doc comments print what they should", async () => {
  const printed = await runProgram('examples.ts');
  assert.deepEqual(printed.split(`${separator}\n`).slice(0, -1), exampleOutputs);
});

test('the commands that stand for the forms get a page', async () => {
  for (const operation of listings) {
    const printed = await partner.run(`${settings.text}\n${curlOf(operation)}`);
    assert.ok(printed.startsWith(`{"${operation.name}":[{`), printed);
  }
});

for (const [page, { commands = [], programs, check }] of Object.entries(pages)) {
  test(`the commands and programs of ${page} print what they should`, async () => {
    const blocks = blocksOf(documentOf(page));
    const startedMs = performance.now();
    const printed = await printedBy(blocks);
    const seconds = (performance.now() - startedMs) / 1_000;
    assert.equal(printed.length, commands.length);
    for (const [index, expected] of commands.entries()) assert.match(printed[index]!, expected);
    check?.(printed, seconds);

    let ran = 0;
    for (const { language, text } of blocks) {
      if (language === 'sh') ran += 1;
      if (language === 'json') assert.deepEqual(parsed(printed[ran - 1]!), parsed(text));
    }

    const hasPrograms = blocks.some(({ language }) => ['ts', 'js'].includes(language));
    assert.equal(hasPrograms, programs !== undefined);
    if (programs) assert.match(await runProgram(documentOf(page)), programs);
  });

  const inPython = programOf(documentOf(page), ['python']);
  if (programs === undefined || inPython === '') continue;
  test(`the programs of ${page} in Python print the same`, needsPython, async () => {
    const set = partner.here(settings.text).matchAll(/(\w+)=(.*)/g);
    const variables = Object.fromEntries(Array.from(set, ([, name, value]) => [name!, value!]));
    const { stdout, stderr } = await runPython(['-c', inPython], { variables });
    assert.equal(stderr, '');
    assert.match(stdout, programs);
  });
}

function runProgram(document: string): Promise<string> {
  return partner.run(`${settings.text}\nnode_modules/.bin/node ${programFile(document)}`);
}

test('pages for partners have one title, no HTML, narrow tables and short lines', () => {
  for (const page of allPages) {
    const prose = proseOf(documentOf(page)).replaceAll(/`[^`\n]*`/g, '');
    assert.equal(prose.match(/^# /gm)?.length, 1, `${page} has one title`);
    assert.doesNotMatch(prose, /<\/?[a-z]/i, `${page} has no HTML`);
    for (const row of prose.match(/^\|.*$/gm) ?? []) assert.ok(row.split('|').length <= 5, `${page}: ${row}`);
    const lines = blocksOf(documentOf(page)).flatMap((block) => block.text.split('\n'));
    for (const line of lines) {
      // A key cannot be broken.
      assert.ok(line.length <= 80 || line.includes('pn_test_'), `${page}: ${line}`);
    }
  }
});
