/** Runs the commands of the README in a fresh clone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { read } from '../sources.ts';
import { type Clone, makeClone, shellBlocks } from './clone.ts';

const [startCommand = '', readmeCurl = '', , testCommand = ''] = shellBlocks('README.md');

let clone: Clone;
before(async () => {
  clone = await makeClone();
});
after(() => clone.remove());

test('the first command of the README serves a sandbox, and its curl line works when pasted', async (t) => {
  assert.equal(startCommand, 'npm ci --omit=dev && npm start');
  const sandbox = await clone.start('npm start', /Press Ctrl-C to stop\./);
  t.after(sandbox.stop);
  assert.ok(sandbox.printed.includes(clone.here('http://127.0.0.1:8080/network/v1\n')));
  const [brandsLine = '', balancesLine = ''] =
    sandbox.printed.replaceAll(/ \\\n */g, ' ').match(/curl .*/g) ?? [];
  assert.equal(brandsLine, clone.here(readmeCurl));
  assert.equal(JSON.parse(await clone.run(balancesLine)).balances.length, 3);

  const shown = /^```json\n(.*?)^```$/ms.exec(read('README.md'))?.[1] ?? '';
  const answer = JSON.parse(await clone.run(readmeCurl));
  assert.deepEqual({ ...answer, cursor: '' }, { ...JSON.parse(shown), cursor: '' });
});

test('CI runs the test command of the README', () => {
  assert.equal(testCommand, 'npm ci && npm test');
  assert.ok(read('.ci/run').split('\n').includes(testCommand));
});

test('an older Node prints one sentence about what to do', async () => {
  const version = await clone.run('node -p process.versions.node');
  const said = await clone.run('node packages/partner-network/bin/partner-network.js --help 2>&1 || true');
  const isOld = Number.parseInt(version, 10) < 24;
  assert.match(said, isOld ? /^Partner Network needs Node 24, .*\.\n$/ : /^Usage:/);
});
