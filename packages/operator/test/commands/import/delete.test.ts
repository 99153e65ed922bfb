/** Deletions, late lines, brands of several partners, and what the audit log says about imports. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AuditEntry } from '../../../../store/src/port.ts';
import { assertFailed, type CommandLine, withPartners } from '../../../../testkit/fixtures/run.ts';
import type { ImportReport } from '../../../src/ingest/import.ts';

function balance(id: string, more: object = {}): object {
  const money = { customer_id: 'alice', type: 'CHECKING', currency: 'USD', amount: 1 };
  return { id, ...money, updated_at: '2026-01-10T00:00:00Z', ...more };
}

function write(line: CommandLine, ...records: object[]): string {
  const file = join(line.folder, 'given.jsonl');
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return file;
}

/** The counts that are not zero. */
function nonZero(report: ImportReport): object {
  return Object.fromEntries(
    Object.entries(report).filter(([, value]) => typeof value === 'number' && value > 0),
  );
}

test('deletes by a line, keeps late lines out, and records both', async (t) => {
  const line = await withPartners(t, ['acme']);
  const importing = (...records: object[]) =>
    line.json<ImportReport>('import', 'balances', write(line, ...records));
  assert.deepEqual(nonZero(await importing(balance('a'), balance('b'))), { read: 2, written: 2 });
  const gone = { customer_id: 'alice', id: 'a', deleted_at: '2026-01-11T00:00:00Z', amount: 'ignored' };
  assert.deepEqual(nonZero(await importing(gone)), { read: 1, deleted: 1 });
  const late = [balance('a'), balance('b', { amount: 2, updated_at: '2026-01-09T00:00:00Z' })];
  assert.deepEqual(nonZero(await importing(...late)), { read: 2, stale: 2 });

  const bad = { ...gone, typo: 1 };
  await line.json('import', 'balances', write(line, balance('c'), bad, bad), '--skip-invalid');

  const [skipped, ...entries] = await line.json<AuditEntry[]>('audit', 'list', '--action', 'import balances');
  assert.deepEqual([skipped?.details.written, skipped?.details.rejected], [1, 2]);
  assert.equal(entries.length, 2);
  const { source, written, deleted, duration_ms } = entries[0]!.details;
  assert.deepEqual([entries[0]!.target, source, written, deleted], ['balances', 'given.jsonl', 0, 1]);
  assert.ok(Number(duration_ms) >= 0);
});

test('--delete-missing deletes what the file lacks, and asks before it deletes much', async (t) => {
  const line = await withPartners(t, ['acme']);
  const ids = Array.from({ length: 10 }, (_, index) => `b${index}`);
  const file = (...kept: string[]) => write(line, ...kept.map((id) => balance(id)));
  await line.json('import', 'balances', file(...ids));
  const missing = async (path: string, ...flags: string[]) =>
    line.run(['import', 'balances', path, '--delete-missing', '--json', ...flags]);

  const few = await missing(file(...ids.slice(2)));
  assert.deepEqual(nonZero(JSON.parse(few.stdout)), { read: 8, unchanged: 8, deleted: 2 });
  const many = await missing(file(...ids.slice(4)));
  assertFailed(
    many,
    1,
    /^This deletes 2 of 8 stored balances: the file does not contain them\. Nothing was changed: pass --yes /,
  );
  const tried = await missing(file(...ids.slice(4)), '--dry-run');
  assert.deepEqual(nonZero(JSON.parse(tried.stdout)), { read: 6, unchanged: 6, deleted: 2 });
  const confirmed = await missing(file(...ids.slice(4)), '--yes');
  assert.deepEqual(nonZero(JSON.parse(confirmed.stdout)), { read: 6, unchanged: 6, deleted: 2 });

  const empty = await missing(file(), '--yes');
  assert.deepEqual([empty.status, empty.stderr.includes('would delete everything')], [1, true]);
  const rejected = await missing(write(line, balance('b9'), { id: 1 }), '--yes', '--skip-invalid');
  assert.deepEqual([rejected.status, JSON.parse(rejected.stdout).rejected_count], [1, 1]);
  assert.match(rejected.stderr, /--delete-missing cannot skip them/);
  assertFailed(await missing('-', '--follow'), 2, /^--delete-missing needs a whole file: omit --follow\./);
  const left = await line.run(['export', 'balances']);
  assert.equal(left.stdout.trim().split('\n').length, 6);
});

test('imports and exports brands of several partners in one file', async (t) => {
  const line = await withPartners(t, ['acme', 'zenith']);
  const brand = (partner_id: string, id: string) => ({ partner_id, id, name: 'Name', reference_id: 'r' });
  const good = write(line, brand('acme', 'a'), brand('zenith', 'a'), brand('zenith', 'b'));
  assert.equal((await line.json<ImportReport>('import', 'brands', good)).written, 3);
  const all = await line.run(['export', 'brands']);
  assert.deepEqual(
    all.stdout
      .trim()
      .split('\n')
      .map((text) => [JSON.parse(text).partner_id, JSON.parse(text).id].join(' ')),
    ['acme a', 'zenith a', 'zenith b'],
  );
  writeFileSync(good, all.stdout);
  assert.equal((await line.json<ImportReport>('import', 'brands', good)).unchanged, 3);
  const other = await line.run(['import', 'brands', good, '--partner', 'acme']);
  assert.match(other.stderr, /^line 2: partner_id: IMMUTABLE_FIELD: /);

  const acme = Array.from({ length: 10 }, (_, index) => brand('acme', `a${index}`));
  await line.json('import', 'brands', write(line, ...acme));
  const kept = write(line, ...acme, brand('acme', 'a'), brand('zenith', 'a'));
  assertFailed(
    await line.run(['import', 'brands', kept, '--delete-missing']),
    1,
    /^This deletes 1 of 13 stored brands, and 50 % of the brands of one partner: the file does not /,
  );
});

test('the audit log has the start and the end of a feed', async (t) => {
  const line = await withPartners(t, ['acme']);
  const input = `${JSON.stringify(balance('a'))}\n`;
  await line.run(['import', 'balances', '-', '--follow', '--actor', 'feed@night'], { input });
  const entries = await line.json<AuditEntry[]>('audit', 'list', '--actor', 'feed@night');
  assert.deepEqual(
    entries.map(({ details }) => [details.feed, details.written]),
    [
      ['end', 1],
      ['start', undefined],
    ],
  );
});
