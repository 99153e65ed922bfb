/** Every command of the README and of docs/ is run here, in a fresh clone; the test command by `.ci/run`. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { emptyDatabase } from '../packages/server/test/support/postgres.ts';
import { errorPage, errorPagePath } from '../scripts/error-page.ts';
import { importPage, importPagePath } from '../scripts/import-codes.ts';
import { type Clone, makeClone, type RunningScript, root, shellBlocks } from './clone.ts';

const [startCommand = '', testCommand = '', readmeCurl = '', helpCommand = ''] = shellBlocks('README.md');

let clone: Clone;
before(async () => {
  clone = await makeClone();
});
after(() => clone.remove());

test('the first command of the README serves a sandbox, and its curl line works when pasted', async (t) => {
  assert.equal(startCommand, 'npm ci && npm start');
  const sandbox = await clone.start(startCommand, /Ctrl-C stops it\./);
  t.after(sandbox.stop);
  assert.ok(sandbox.printed.includes(clone.here('http://127.0.0.1:8080/network/v1\n')));
  const [brandsLine = '', balancesLine = ''] = sandbox.printed.match(/curl .*/g) ?? [];
  assert.equal(brandsLine, clone.here(readmeCurl));
  assert.equal(JSON.parse(await clone.run(balancesLine)).balances.length, 3);

  const shown = /^```json\n(.*?)^```$/ms.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1] ?? '';
  const answer = JSON.parse(await clone.run(readmeCurl));
  assert.deepEqual({ ...answer, cursor: '' }, { ...JSON.parse(shown), cursor: '' });
});

test('the test command of the README is the one that CI runs', () => {
  assert.equal(testCommand, 'npm ci && npm test');
  assert.ok(readFileSync(join(root, '.ci/run'), 'utf8').split('\n').includes(testCommand));
});

test('every command of docs/operators/run.md works, in the order of the page', async (t) => {
  assert.match(await clone.run(helpCommand), /^Usage: partner-network/);
  const printed: Record<string, string> = {};
  const postgres = await emptyDatabase(t);
  let server: RunningScript | undefined;
  t.after(() => server?.stop());
  for (const block of shellBlocks('docs/operators/run.md')) {
    if (block.endsWith(' serve')) {
      // The page shows two ways to serve; both use the same ports.
      await server?.stop();
      server = await clone.start(block, /Serving production at/);
    } else {
      const onTest = block.replace('postgres://network@db.example/network', `'${postgres}'`);
      printed[block.split('\n').at(-1)!] = await clone.run(onTest);
    }
  }
  const printedBy = (words: string) =>
    Object.entries(printed).find(([last]) => last.includes(words))?.[1] ?? '';
  assert.match(printedBy('keys create'), /^pn_live_/m);
  assert.match(printedBy('import brands'), /2 read, 2 written/);
  assert.match(printedBy('check-images'), /2 brands: 0 fine, 2 without an image, 0 faulty\./);
  assert.match(printedBy('readyz'), /^alive\nready\n$/);
  assert.match(printedBy('grants list'), /CUSTOMER_1 +ACTIVE/);
  const moved =
    /\d partners and \d keys written\.\n((\d+) read, \2 written, 0 unchanged, 0 rejected\.\n){3}$/;
  assert.match(printedBy('import grants grants.jsonl'), moved);
  assert.match(printedBy('receipts prune'), /^Removed 0 receipts from before/);
  assert.match(printedBy('doctor'), /^✓ environment {2}It is a production database\.$/m);
});

test('every command of docs/operators/importing.md works on what docs/operators/run.md has made', async () => {
  const printed: string[] = [];
  for (const block of shellBlocks('docs/operators/importing.md')) printed.push(await clone.run(block));
  assert.deepEqual(printed, [
    '2 read, 2 written, 0 unchanged, 0 rejected.\n',
    '1 read, 1 written, 0 unchanged, 0 rejected.\n',
    '2 read, 2 would be written, 0 unchanged, 0 rejected.\n',
    '2 read, 2 written, 0 unchanged, 0 rejected.\n',
  ]);
});

test('every command of docs/operators/scale.md works on a real Postgres, in the order of the page', async (t) => {
  const [exported = '', ...blocks] = shellBlocks('docs/operators/scale.md');
  assert.match(exported, /^export DATABASE_URL=postgres:/);
  const url = await emptyDatabase(t);
  // Replicas and Redis are not there: the service starts without them.
  const onTest = (block: string) =>
    `export DATABASE_URL='${url}'\n${block.replaceAll('.example', '.invalid')}`;
  let printed = '';
  for (const block of blocks) {
    if (block.includes(' serve')) {
      const server = await clone.start(onTest(block), /Serving production at/);
      await server.stop();
    } else printed += await clone.run(onTest(block));
  }
  assert.match(printed, /went from schema 0 to \d+/);
  assert.match(printed, /^pn_live_/m);
  assert.match(printed, /1 read, 1 written/);
});

test('an older Node says in a sentence that it is too old, and what to do', async () => {
  const version = await clone.run('node -p process.versions.node');
  const said = await clone.run('node packages/server/bin/partner-network.js --help 2>&1 || true');
  const isOld = Number.parseInt(version, 10) < 24;
  assert.match(said, isOld ? /^Partner Network needs Node 24 .*\.\n$/ : /^Usage:/);
});

test('the codes of docs/operators/importing.md are those that an import says; "npm run docs" renews them', () => {
  assert.equal(readFileSync(importPagePath, 'utf8'), importPage());
});

test('docs/partners/error-catalogue.md is made from the catalogue; "npm run docs" renews it', () => {
  assert.equal(readFileSync(errorPagePath, 'utf8'), errorPage());
});
