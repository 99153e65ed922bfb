import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { commandLine, run } from '../../../testkit/fixtures/run.ts';
import type { Examined } from '../../src/doctor/examine.ts';
import { names } from '../doctor/examined.ts';

test('prints a list of checks with --json, and exits with 0 if no check failed', async (t) => {
  const line = commandLine(t);
  await line.inside(async () => {});
  const checks = await line.json<Examined[]>('doctor --public-url https://network.example');
  assert.deepEqual(
    checks.map((check) => Object.keys(check)),
    names.map(() => ['name', 'status', 'detail']),
  );
});

test('exits with 1 if a check failed, and prints what to do below it', async (t) => {
  const line = commandLine(t);
  await line.inside(async () => {});
  const { status, stdout, stderr } = await line.run('doctor --environment sandbox');
  assert.deepEqual([status, stderr], [1, '1 of 17 checks failed. Follow the advice under each of them.\n']);
  const lines = stdout.trimEnd().split('\n');
  assert.equal(lines.length, names.length + 1);
  assert.match(
    lines[4]!,
    /^✗ environment {2}This is a production database, but the environment is sandbox\.$/,
  );
  assert.match(lines[5]!, /^ {15}Pass --environment production/);
  assert.match(lines[6]!, /^✓ schema {7}The database has the current schema/);
});

test('sees how many files its process may open', async (t) => {
  const line = commandLine(t);
  await line.inside(async () => {});
  const program = fileURLToPath(new URL('../../../partner-network/bin/partner-network.js', import.meta.url));
  const script = 'ulimit -n 1000 && exec "$@"';
  const words = [process.execPath, program, 'doctor', '--json', '--database', line.database];
  const checks: Examined[] = JSON.parse(
    execFileSync('sh', ['-c', script, 'sh', ...words], { encoding: 'utf8' }),
  );
  const { status, detail } = checks.find(({ name }) => name === 'open_files')!;
  assert.deepEqual([status, detail.includes('1000')], ['warning', true]);
});

test('limits a DNS lookup to one second, because no process ends before it', async () => {
  const watch = `import dns from 'node:dns';
    const { lookup } = dns;
    dns.lookup = (name, options, done) => {
      if (name !== 'db.example') return lookup(name, options, done);
      console.error('looked up with', process.env.RES_OPTIONS);
      process.nextTick(done, new Error('no such name'));
    };`;
  const variables = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(watch)}` };
  const words = ['doctor', '--database', 'postgres://network@db.example/network'];
  const { status, stdout, stderr } = await run(words, { variables });
  assert.match(stderr, /^looked up with timeout:1 attempts:1\n1 of 17 checks failed/);
  assert.match(stdout, /^✗ database .*at db\.example \(no such name\)/m);
  assert.equal(status, 1);
});
