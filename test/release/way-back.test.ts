/** The way back to a release, as upgrade.md describes it: the older program imports what this one exports. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { commandLine, run } from '../../packages/testkit/fixtures/run.ts';
import { placePackage } from '../../packages/testkit/releases/releases.ts';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const file = fileURLToPath(new URL('../releases/0.2.0/partner-network-0.2.0.tgz', import.meta.url));

test('0.2.0 imports partners with limits after the command of upgrade.md', async (t) => {
  const { run: runNew } = commandLine(t);
  await runNew('migrate');
  await runNew(['partners', 'create', '--id', 'SHOP', '--name', 'A,"limits":{"brands":1}']);
  await runNew('partners limit SHOP --brands 7 --balances 9');
  const exported = (await runNew('partners export')).stdout;
  const folder = temporaryFolder(t);
  const program = placePackage(t, file);
  const database = ['--database', `sqlite:${join(folder, 'old.db')}`];
  assert.equal((await run(['migrate', ...database], { program })).status, 0);
  const importing = () =>
    run(['partners', 'import', 'partners-since.jsonl', ...database], { program, folder });
  writeFileSync(join(folder, 'partners-since.jsonl'), exported);
  assert.match((await importing()).stderr, /limits: UNKNOWN_FIELD/);
  const command = /^ +(sed -i .* partners-since\.jsonl)$/m.exec(
    read('docs/how-to/operators/upgrade.md'),
  )![1]!;
  execFileSync('sh', ['-c', command], { cwd: folder });
  const { status, stdout, stderr } = await importing();
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^1 partner /);
  const listed = JSON.parse((await run(['partners', 'list', '--json', ...database], { program })).stdout);
  assert.deepEqual(
    listed.map(({ name }: { name: string }) => name),
    ['A,"limits":{"brands":1}'],
  );
});
