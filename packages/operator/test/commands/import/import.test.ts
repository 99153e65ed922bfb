import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { newApiKey } from '../../../../service/src/auth.ts';
import {
  assertFailed,
  type CommandLine,
  spawnCommand,
  withPartners,
} from '../../../../testkit/fixtures/run.ts';
import { needsTerminal, onTerminal } from '../../../../testkit/fixtures/terminal.ts';
import { sourceName } from '../../../src/commands/import/input.ts';
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

const importAcme = ['import', 'brands', '-', '--partner', 'acme'];
const importBrands = [...importAcme, '--json'];
const mixed = `${brandLines('a')}\n{"name":5,"extra":1}\nnonsense\n${brandLines('b')}`;

test('imports a file; the same records from standard input change nothing', async (t) => {
  const line = await withPartners(t, ['acme']);
  const file = join(line.folder, 'brands.jsonl');
  writeFileSync(file, `\ufeff${brandLines('a', 'b')}`);
  const report = await line.json<ImportReport>('import', 'brands', file, '--partner', 'acme');
  assert.deepEqual(
    Object.keys(report),
    'read written unchanged stale deleted rejected_count rejected'.split(' '),
  );
  assert.deepEqual(report, reportOf({ read: 2, written: 2 }));
  const again = await line.run(importBrands, { input: brandLines('a', 'b') });
  assert.deepEqual([again.status, again.stderr], [0, '']);
  assert.deepEqual(JSON.parse(again.stdout), { ...report, written: 0, unchanged: 2 });
  assert.deepEqual(await brandIds(line), ['a', 'b']);
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
  const words = [...importAcme, '--format', 'csv', '--skip-invalid'];
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
  const { status, stdout, stderr } = await line.run(importAcme, {
    input: mixed + 'nonsense\n'.repeat(1_000),
  });
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

test('a terminal shows progress, then the summary; a pipe or dumb one does not', needsTerminal, async (t) => {
  const line = await withPartners(t, ['acme']);
  const file = join(line.folder, 'brands.csv');
  writeFileSync(file, `name,reference_id\n${'Name,ref\n'.repeat(1_000)}`);
  const words = ['import', 'brands', file, '--partner', 'acme', '--dry-run', '--database', line.database];
  const summary = '1000 read, 1000 would be written, 0 unchanged, 0 stale, 0 would be deleted, 0 rejected.';
  const terminal = onTerminal(t, 80, words);
  const status = await terminal.ended;
  const drawn = terminal.shown().split('\r\u001b[K');
  assert.deepEqual([status, drawn.at(-1)], [0, `${summary}\n`]);
  const bar = /\n\[\u001b\[32m#+\u001b\[39m\.*\] .* 1,000 read .*\n1,000 records staged, merging …/;
  assert.match(drawn.join('\n'), bar);
  const written = onTerminal(t, 80, words.toSpliced(5, 1));
  assert.equal(await written.ended, 0);
  assert.match(written.shown(), /1,000 records staged and merged, committing …/);
  const dumb = onTerminal(t, 80, words, { TERM: 'dumb' });
  assert.equal(await dumb.ended, 0);
  assert.doesNotMatch(dumb.shown(), /[\r\u001b]/);
  const piped = await line.run(words.slice(0, -2));
  assert.deepEqual([piped.status, piped.stdout, piped.stderr], [0, `${summary}\n`, '']);
});

/** Makes the process print its peak memory when it ends. */
const printPeak = `process.on("exit",()=>process.stderr.write("peak "+process.resourceUsage().maxRSS))`;

const good = '{"id":"good","reference_id":"r","name":"n"}\n';

function* longLine(mebibytes: number): Generator<string> {
  yield `${good}{"reference_id":"r","name":"`;
  for (let count = 0; count < mebibytes; count += 1) yield 'x'.repeat(1024 * 1024);
  yield `"}\n${good}`;
}

test('rejects a line of 100 MB by its number, writes nothing, and does not hold it in memory', async (t) => {
  const line = await withPartners(t, ['acme']);
  const words = ['import', 'brands', '-', '--partner', 'acme', '--json', '--database', line.database];
  const variables = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(printPeak)}` };
  const child = spawnCommand(words, { variables });
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    pipeline(Readable.from(longLine(100)), child.stdin),
  ]);
  assert.deepEqual(await ended, [1, null]);
  const { rejected, ...counts } = JSON.parse(stdout);
  assert.deepEqual(counts, { read: 3, written: 0, unchanged: 0, stale: 0, deleted: 0, rejected_count: 1 });
  assert.deepEqual([rejected[0].line, rejected[0].errors[0].code], [2, 'INVALID_JSON']);
  const peakKibibytes = Number(/peak (\d+)$/.exec(stderr)?.[1]);
  // An idle process takes 60 MB. Keeping the line and decoding it would take 200 MB more.
  assert.ok(peakKibibytes < 200 * 1024, `${peakKibibytes} KiB`);
});

function personalLines(count: number): string {
  const brandLine = (id: number) =>
    `{"id":"b${id}","name":"Name","reference_id":"ref","metadata":{"owner":"jane${id}@example.com"}}\n`;
  return Array.from({ length: count }, (_, index) => brandLine(index)).join('');
}

test('--personal-data warn reports personal data on standard error, and writes it', async (t) => {
  const line = await withPartners(t, ['acme']);
  const warn = [...importAcme, '--personal-data', 'warn'];
  const machine = await line.run([...warn, '--json'], { input: personalLines(30) });
  assert.equal(machine.status, 0);
  const report = reportOf({ read: 30, written: 30 });
  assert.deepEqual(JSON.parse(machine.stdout), report);
  assert.equal(
    machine.stderr.match(/^warning: line \d+: metadata\.owner: PERSONAL_DATA: Remove .*\.$/gm)?.length,
    30,
  );
  assert.doesNotMatch(machine.stdout + machine.stderr, /jane/);

  const person = await line.run(warn, { input: personalLines(30) });
  assert.deepEqual(
    [person.status, person.stdout],
    [0, '30 read, 0 written, 30 unchanged, 0 stale, 0 deleted, 0 rejected.\n'],
  );
  assert.equal(person.stderr.match(/^warning: /gm)?.length, 20);
  assert.match(person.stderr, /^… and 10 more lines with warnings\.$/m);
});

test('rejects personal data by default, and does not repeat it', async (t) => {
  const line = await withPartners(t, ['acme']);
  const { status, stdout, stderr } = await line.run(importAcme, { input: personalLines(1) });
  assert.deepEqual(
    [status, stdout],
    [1, '1 read, 0 written, 0 unchanged, 0 stale, 0 deleted, 1 rejected.\n'],
  );
  assert.match(
    stderr,
    /^line 1: metadata\.owner: PERSONAL_DATA: Remove .* e-mail address\. If .* --personal-data allow\.$/m,
  );
  assert.doesNotMatch(stderr, /jane/);
  const allowed = await line.run([...importAcme, '--personal-data', 'allow'], { input: personalLines(1) });
  assert.deepEqual([allowed.status, allowed.stderr], [0, '']);
});

test('accepts --personal-data for every kind of record', async (t) => {
  const line = await withPartners(t, ['acme']);
  for (const kind of ['balances', 'grants']) {
    const { status } = await line.run(['import', kind, '-', '--personal-data', 'reject'], { input: '' });
    assert.equal(status, 0);
  }
  assertFailed(
    await line.run([...importAcme, '--personal-data', 'ignore']),
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
