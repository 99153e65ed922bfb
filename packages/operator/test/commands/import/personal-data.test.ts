import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newApiKey } from '../../../../service/src/auth.ts';
import { assertFailed, withPartners } from '../../../../testkit/fixtures/run.ts';
import { sourceName } from '../../../src/commands/import/input.ts';
import { reportOf } from '../../ingest/import-into.ts';

const words = ['import', 'brands', '-', '--partner', 'acme'];

function brandLines(count: number): string {
  const brandLine = (id: number) =>
    `{"id":"b${id}","name":"Name","reference_id":"ref","metadata":{"owner":"jane${id}@example.com"}}\n`;
  return Array.from({ length: count }, (_, index) => brandLine(index)).join('');
}

test('--personal-data warn reports personal data on standard error, and writes it', async (t) => {
  const line = await withPartners(t, ['acme']);
  const warn = [...words, '--personal-data', 'warn'];
  const machine = await line.run([...warn, '--json'], { input: brandLines(30) });
  assert.equal(machine.status, 0);
  const report = reportOf({ read: 30, written: 30 });
  assert.deepEqual(JSON.parse(machine.stdout), report);
  assert.equal(
    machine.stderr.match(/^warning: line \d+: metadata\.owner: PERSONAL_DATA: Remove .*\.$/gm)?.length,
    30,
  );
  assert.doesNotMatch(machine.stdout + machine.stderr, /jane/);

  const person = await line.run(warn, { input: brandLines(30) });
  assert.deepEqual(
    [person.status, person.stdout],
    [0, '30 read, 0 written, 30 unchanged, 0 stale, 0 deleted, 0 rejected.\n'],
  );
  assert.equal(person.stderr.match(/^warning: /gm)?.length, 20);
  assert.match(person.stderr, /^… and 10 more lines with warnings\.$/m);
});

test('rejects personal data by default, and does not repeat it', async (t) => {
  const line = await withPartners(t, ['acme']);
  const { status, stdout, stderr } = await line.run(words, { input: brandLines(1) });
  assert.deepEqual(
    [status, stdout],
    [1, '1 read, 0 written, 0 unchanged, 0 stale, 0 deleted, 1 rejected.\n'],
  );
  assert.match(
    stderr,
    /^line 1: metadata\.owner: PERSONAL_DATA: Remove .* e-mail address\. If .* --personal-data allow\.$/m,
  );
  assert.doesNotMatch(stderr, /jane/);
  const allowed = await line.run([...words, '--personal-data', 'allow'], { input: brandLines(1) });
  assert.deepEqual([allowed.status, allowed.stderr], [0, '']);
});

test('accepts --personal-data for every kind of record', async (t) => {
  const line = await withPartners(t, ['acme']);
  for (const kind of ['balances', 'grants']) {
    const { status } = await line.run(['import', kind, '-', '--personal-data', 'reject'], { input: '' });
    assert.equal(status, 0);
  }
  assertFailed(
    await line.run([...words, '--personal-data', 'ignore']),
    2,
    /--personal-data must be one of allow, warn, reject\./,
  );
});

test('the audit log does not repeat personal data or a key in the name of a file', () => {
  for (const name of ['jane.doe@example.com.jsonl', '078-05-1120.csv', '4111111111111111']) {
    assert.equal(sourceName(`folder/${name}`), '[personal data]');
  }
  for (const name of ['balances-20261116092859.jsonl', 'brands@2.csv']) assert.equal(sourceName(name), name);
  assert.equal(sourceName(newApiKey('production')), '[key]');
});
