/** Every command of the README and of docs/ is run here, in a fresh clone; the test command by `.ci/run`. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { errorPage, errorPagePath } from '../scripts/error-page.ts';
import { makeClone, root, runShell, shellBlocks, startShell } from './clone.ts';

const readme = shellBlocks('README.md');
const [startCommand = '', readmeCurl = '', testCommand = '', helpCommand = ''] = readme;
const readyToTry = /Ctrl-C stops it\./;

let clone: string;
before(() => {
  clone = makeClone();
});
after(() => rmSync(clone, { recursive: true, force: true }));

test('the first command of the README serves a sandbox, and its curl line works when pasted', async (t) => {
  assert.equal(startCommand, 'npm ci && npm start');
  const sandbox = await startShell(startCommand, clone, readyToTry);
  t.after(sandbox.stop);
  assert.match(sandbox.printed, /Base URL +http:\/\/127\.0\.0\.1:8080\/network\/v1\n/);

  const printedLines = [...sandbox.printed.matchAll(/^ +(curl .*)$/gm)].map(([, line = '']) => line);
  const [brands, balances] = await Promise.all(printedLines.map((line) => runShell(line, clone)));
  assert.equal(JSON.parse(brands!).brands.length, 2);
  assert.equal(JSON.parse(balances!).balances.length, 3);

  const shown = /^```json\n(.*?)^```$/ms.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1] ?? '';
  const answer = JSON.parse(await runShell(readmeCurl, clone));
  assert.deepEqual({ ...answer, cursor: '' }, { ...JSON.parse(shown), cursor: '' });

  const [exports = '', ...calls] = shellBlocks('docs/sandbox.md');
  const printed = await Promise.all(calls.slice(0, -1).map((call) => runShell(`${exports}\n${call}`, clone)));
  const expected = [
    /"amount":125050/,
    /GRANT_REVOKED/,
    /"reference_id":"shop-17"/,
    /VALUE_TOO_HIGH.*reference_id/,
  ];
  for (const [index, pattern] of expected.entries()) assert.match(printed[index]!, pattern);
  assert.match(await runShell(`${exports}\n${calls.at(-1)}`, clone), /200\n.*429/);
});

test('the test command of the README is the one that CI runs', () => {
  assert.equal(testCommand, 'npm ci && npm test');
  assert.ok(readFileSync(join(root, '.ci/run'), 'utf8').split('\n').includes(testCommand));
});

test('every command of docs/operating.md works, in the order of the page', async (t) => {
  assert.match(await runShell(helpCommand, clone), /^Usage: partner-network/);
  const blocks = shellBlocks('docs/operating.md');
  const printed: Record<string, string> = {};
  for (const block of blocks) {
    if (block === 'npx partner-network serve') {
      t.after((await startShell(block, clone, /Serving production at/)).stop);
    } else {
      printed[block.split('\n').at(-1)!] = await runShell(block, clone);
    }
  }
  const outputOf = (command: string) =>
    Object.entries(printed).find(([last]) => last.includes(command))?.[1] ?? '';
  assert.match(outputOf('keys create'), /^pn_live_/m);
  assert.match(outputOf('import brands'), /2 read, 2 written/);
  assert.match(outputOf('readyz'), /ok/);
  assert.match(outputOf('grants list'), /CUSTOMER_1 +ACTIVE/);
});

test('docs/errors.md is made from the catalogue; "npm run docs" renews it', () => {
  assert.equal(readFileSync(errorPagePath, 'utf8'), errorPage());
});
