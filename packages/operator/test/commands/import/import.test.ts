import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  assertFailed,
  type CommandLine,
  spawnCommand,
  withPartners,
} from '../../../../testkit/fixtures/run.ts';
import type { ImportReport } from '../../../src/ingest/import.ts';
import { reportOf } from '../../ingest/import-into.ts';

async function brandIds(line: CommandLine): Promise<string[]> {
  const query = { partnerId: 'acme', referenceId: undefined, after: '', limit: 100 };
  const { records } = await line.inside((store) => store.listBrands(query));
  return [...records.matchAll(/"id":"([^"]*)"/g)].map(([, id]) => id!);
}

function brandLines(...ids: string[]): string {
  return ids.map((id) => `{"id":"${id}","name":"Name","reference_id":"ref"}\n`).join('');
}

const importBrands = ['import', 'brands', '-', '--partner', 'acme', '--json'];
const mixed = `${brandLines('a')}\n{"name":5,"extra":1}\nnonsense\n${brandLines('b')}`;

test('imports a file; the same records from standard input change nothing', async (t) => {
  const line = await withPartners(t, ['acme']);
  const file = join(line.folder, 'brands.jsonl');
  writeFileSync(file, `\ufeff${brandLines('a', 'b')}`);
  const report = await line.json<ImportReport>('import', 'brands', file, '--partner', 'acme');
  assert.deepEqual(Object.keys(report), [
    'read',
    'written',
    'unchanged',
    'stale',
    'deleted',
    'rejected_count',
    'rejected',
  ]);
  assert.deepEqual(report, reportOf({ read: 2, written: 2 }));
  const again = await line.run(importBrands, { input: brandLines('a', 'b') });
  assert.deepEqual([again.status, again.stderr], [0, '']);
  assert.deepEqual(JSON.parse(again.stdout), { ...report, written: 0, unchanged: 2 });
  assert.deepEqual(await brandIds(line), ['a', 'b']);
});

test('imports grants and balances, which name their own partner and customer', async (t) => {
  const line = await withPartners(t, ['acme']);
  const grants = await line.run(['import', 'grants', '-', '--json'], {
    input: '{"id":"g","partner_id":"acme","customer_id":"alice"}\n{"partner_id":"acme","customer_id":"zoe"}',
  });
  assert.deepEqual([grants.status, JSON.parse(grants.stdout).written], [0, 2]);
  const balances = await line.run(['import', 'balances', '-', '--json'], {
    input: '{"id":"b","customer_id":"alice","type":"CHECKING","currency":"USD","amount":-5}',
  });
  assert.deepEqual([balances.status, JSON.parse(balances.stdout).written], [0, 1]);
  const listed = await line.json<{ id: string; status: string }[]>('grants', 'list', '--partner', 'acme');
  assert.deepEqual([listed[0]?.id, listed[0]?.status, listed.length], ['g', 'ACTIVE', 2]);
});

test('imports CSV from a file by its name, and from standard input on demand', async (t) => {
  const line = await withPartners(t, ['acme']);
  const file = join(line.folder, 'Brands.CSV');
  const text = '\ufeffid,name,reference_id,metadata.tier\r\na,"Tea, green",r,gold\r\nb,Coffee,r,\r\n';
  writeFileSync(file, text);
  const report = await line.json<ImportReport>('import', 'brands', file, '--partner', 'acme');
  assert.deepEqual([report.written, await brandIds(line)], [2, ['a', 'b']]);
  const again = await line.run([...importBrands, '--format', 'csv'], { input: text });
  assert.deepEqual([again.status, JSON.parse(again.stdout).unchanged], [0, 2]);
  assert.equal(again.stderr, '');
  const cut = await line.run([...importBrands, '--format', 'csv'], { input: text.slice(0, -2) });
  assert.deepEqual([cut.status, JSON.parse(cut.stdout).unchanged], [0, 2]);
  assert.equal(cut.stderr, 'The last line has no line break. Check that the file is complete.\n');
  const unsaid = await line.run(importBrands, { input: text });
  assert.equal(JSON.parse(unsaid.stdout).rejected_count, 3);
  assert.match(
    unsaid.stderr,
    /^No line is valid JSON\. If the file is CSV, pass --format csv\.\nNothing was written: [^\n]*\n$/,
  );
  const mixed = await line.run(importBrands, { input: 'id,name\n{"id":"a"}\n' });
  assert.match(mixed.stderr, /^Nothing was written: [^\n]*\n$/);
});

test('writes nothing of a CSV file that cannot be read to its end, even with --skip-invalid', async (t) => {
  const line = await withPartners(t, ['acme']);
  const input = 'id,name,reference_id\na,Tea,r\nb,"Coffee,r\nc,Milk,r\n';
  const words = ['import', 'brands', '-', '--partner', 'acme', '--format', 'csv', '--skip-invalid'];
  const { status, stdout, stderr } = await line.run(words, { input });
  assert.deepEqual(
    [status, stdout],
    [1, '2 read, 0 written, 0 unchanged, 0 stale, 0 deleted, 1 rejected.\n'],
  );
  assert.match(stderr, /^line 3: INVALID_CSV: .*\nNothing was written: .* Fix that line\.\n$/);
  const headless = await line.run(words, { input: input.slice(input.indexOf('\n') + 1) });
  assert.match(headless.stderr, /^line 1: INVALID_CSV: .*\nNothing was written: fix the header line\.\n$/);
  assert.deepEqual(await brandIds(line), []);
});

test('fails with status 1 and writes nothing when a line is rejected, and reports it', async (t) => {
  const line = await withPartners(t, ['acme']);
  const { status, stdout, stderr } = await line.run(importBrands, { input: mixed });
  assert.equal(status, 1);
  const { rejected, ...counts } = JSON.parse(stdout) as ImportReport;
  assert.deepEqual(counts, { read: 4, written: 0, unchanged: 0, stale: 0, deleted: 0, rejected_count: 2 });
  assert.deepEqual(Object.keys(rejected[0]?.errors[0] ?? {}), ['field', 'code', 'detail']);
  assert.deepEqual(
    rejected.map(({ line, errors }) => [line, ...errors.map(({ field, code }) => `${field} ${code}`)]),
    [
      [3, 'name EXPECTED_STRING', 'reference_id MISSING_REQUIRED_FIELD', 'extra UNKNOWN_FIELD'],
      [4, 'undefined INVALID_JSON'],
    ],
  );
  assert.match(stderr, /^Nothing was written: .*\n$/);
  assert.deepEqual(await brandIds(line), []);
});

test('--skip-invalid writes the good lines, and --dry-run writes nothing', async (t) => {
  const line = await withPartners(t, ['acme']);
  const outcomeOf = async (input: string, ...flags: string[]) => {
    const { status, stdout } = await line.run([...importBrands, ...flags], { input });
    const { read, written, rejected_count } = JSON.parse(stdout);
    return { status, counts: [read, written, rejected_count], stored: await brandIds(line) };
  };
  for (const [input, flags, status, counts] of [
    [brandLines('a', 'b'), [], 0, [2, 2, 0]],
    [mixed, [], 1, [4, 0, 2]],
    [mixed, ['--skip-invalid'], 0, [4, 2, 2]],
  ] as const) {
    assert.deepEqual(await outcomeOf(input, '--dry-run', ...flags), { status, counts, stored: [] });
  }
  const written = { status: 0, counts: [4, 2, 2], stored: ['a', 'b'] };
  assert.deepEqual(await outcomeOf(mixed, '--skip-invalid'), written);
});

test('prints line, field and remedy of the first rejected lines', async (t) => {
  const line = await withPartners(t, ['acme']);
  const words = ['import', 'brands', '-', '--partner', 'acme'];
  const { status, stdout, stderr } = await line.run(words, { input: mixed + 'nonsense\n'.repeat(1_000) });
  assert.equal(status, 1);
  assert.equal(stdout, '1004 read, 0 written, 0 unchanged, 0 stale, 0 deleted, 1002 rejected.\n');
  assert.match(stderr, /^line 3: name: EXPECTED_STRING: Set this field to a string\.$/m);
  assert.match(
    stderr,
    /^line 3: extra: UNKNOWN_FIELD: Remove this field: the record has no field with this name\.$/m,
  );
  assert.match(stderr, /^line 4: INVALID_JSON: /m);
  assert.match(stderr, /982 more rejected lines/);
  assert.doesNotMatch(stderr, /--format/);
  assert.ok(stderr.split('\n').length < 30);
});

test('fails with status 1 and a sentence when it cannot read the file', async (t) => {
  const line = await withPartners(t, ['acme']);
  const missing = join(line.folder, 'missing.jsonl');
  for (const path of [missing, line.folder]) {
    const finished = await line.run(['import', 'brands', path, '--partner', 'acme', '--json']);
    assertFailed(finished, 1, new RegExp(`^Cannot read ${path}`));
  }
});

for (const signal of ['SIGKILL', 'SIGINT'] as const) {
  test(`writes nothing of an import that ${signal} ends half way, and runs the next one`, async (t) => {
    const line = await withPartners(t, ['acme']);
    const child = spawnCommand([...importBrands, '--database', line.database]);
    const ended = once(child, 'close');
    let said = '';
    child.stderr.on('data', (text) => (said += text));
    const half = brandLines(...Array.from({ length: 20_000 }, (_, index) => `x${index}`));
    // A pipe holds 64 KiB. When this write is done, all but that was read, and batches of it were written.
    await new Promise((resolve) => child.stdin.write(half, resolve));
    child.kill(signal);
    assert.deepEqual(await ended, [null, signal]);
    assert.equal(said, signal === 'SIGINT' ? 'Interrupted: nothing was written.\n' : '');
    assert.deepEqual(await brandIds(line), []);
    const { status } = await line.run(importBrands, { input: brandLines('a') });
    assert.deepEqual([status, await brandIds(line)], [0, ['a']]);
  });
}
