/** Imports that are taken back, and imports that replace newer records. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { byTest } from '../../../../testkit/fixtures/fixture.ts';
import { assertFailed } from '../../../../testkit/fixtures/run.ts';
import { balance, brand, engines, openLine } from './engines.ts';

const later = { updated_at: '2026-01-03T00:00:00.000Z' };

for (const engine of engines) {
  test(`an undo file takes an import of balances back, on ${engine}`, async (t) => {
    const line = await openLine(t, engine);
    const many = Array.from({ length: 1_500 }, (_, index) => balance(`m${index}`, index));
    await line.imported('balances', line.write('first.jsonl', [balance('a', 1), balance('b', 2), ...many]));
    const before = await line.exported('balances');
    const bad = [
      balance('a', 100, later),
      { customer_id: 'alice', id: 'b', deleted_at: later.updated_at },
      balance('new', 3),
      ...many.map((one) => ({ ...one, ...later, amount: one.amount * 100 + 1 })),
    ];
    const flags = ['--undo-file', 'undo.jsonl'];
    const report = await line.imported('balances', line.write('bad.jsonl', bad), ...flags);
    assert.deepEqual([report.written, report.deleted], [1_502, 1]);
    assert.equal(statSync(line.here('undo.jsonl')).mode & 0o777, 0o600);
    const undo = line.lines('undo.jsonl');
    assert.equal(undo.length, 1_503);
    assert.deepEqual(JSON.parse(undo[0]!), balance('a', 1));

    const plain = await line.run(['import', 'balances', 'undo.jsonl']);
    assert.match(plain.stdout, / 0 written, .* 1503 stale, 0 deleted/);
    assert.match(plain.stderr, /^1503 of 1503 lines are stale: .* pass --overwrite\.$/m);
    const undone = await line.imported('balances', 'undo.jsonl', '--overwrite');
    assert.deepEqual([undone.written, undone.deleted, undone.stale], [1_502, 1, 0]);
    const [entry] = await line.store.listAudit({ action: 'import balances', limit: 1 });
    assert.equal(entry?.details.overwrite, true);
    assert.deepEqual(await line.exported('balances'), before);
    const again = await line.imported('balances', 'undo.jsonl', '--overwrite');
    assert.deepEqual([again.written, again.deleted, again.unchanged], [0, 0, 1_503]);
  });

  test(`the audit entry has the digest of the input and the name of the undo file: ${engine}`, async (t) => {
    const line = await openLine(t, engine);
    const detailsOf = async (...words: string[]) => {
      const { status, stderr } = await line.run(['import', 'balances', ...words], { input });
      assert.equal(status, 0, stderr);
      const [entry] = await line.store.listAudit({ action: 'import balances', limit: 1 });
      return entry!.details;
    };
    const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
    const untimed = { ...balance('u', 1), customer_id: 'zoe', updated_at: undefined, created_at: undefined };
    const input = `\ufeff${JSON.stringify(untimed)}\r\n\n${JSON.stringify(balance('n', 1))}`;

    // The last line is not in the order of the ids, so the file is read a second time.
    const many = Array.from({ length: 3_000 }, (_, index) => balance(`m${index + 1_000}`, index));
    const file = line.write('given.jsonl', [...many, balance('a', 1)]);
    const digest = sha256(readFileSync(line.here(file)));
    const { source, ...imported } = await detailsOf(file);
    assert.deepEqual([source, imported.sha256, imported.undo_file], [file, digest, undefined]);

    const zoe = line.write('zoe.jsonl', [balance('z', 1, { customer_id: 'zoe' })]);
    mkdirSync(line.here('undos'));
    const undone = await detailsOf(zoe, '--undo-file', 'undos/undo.jsonl');
    assert.deepEqual([undone.sha256, undone.undo_file], [sha256(readFileSync(line.here(zoe))), 'undo.jsonl']);

    // The text of a line that the store rejects is read once more.
    await line.store.eraseCustomer('zoe', byTest);
    const piped = await detailsOf('-', '--skip-invalid', '--rejected-file', 'rejected.jsonl');
    assert.deepEqual([piped.source, piped.sha256, piped.rejected], ['standard input', sha256(input), 1]);
    const fed = await detailsOf('-', '--follow');
    assert.deepEqual([fed.feed, fed.sha256], ['end', undefined]);
  });

  test(`an undo file takes brands of several partners and --delete-missing back, on ${engine}`, async (t) => {
    const line = await openLine(t, engine);
    const image = { profile_image_url: 'https://images.example/a.png' };
    const first = [
      brand('acme', 'a', 'A "quoted" \\ name', image),
      brand('acme', 'b', 'B', { metadata: { tier: 'gold' } }),
      ...['c', 'd', 'e', 'f', 'g'].map((id) => brand('acme', id, id)),
      brand('zenith', 'a', 'Of Zenith'),
    ];
    await line.imported('brands', line.write('first.jsonl', first));
    const before = await line.exported('brands');
    const bad = [...first.slice(2, -1), brand('acme', 'a', 'Wrong', later), brand('acme', 'x', 'New')];
    const flags = ['--delete-missing', '--undo-file', 'undo.jsonl'];
    const report = await line.imported('brands', line.write('bad.jsonl', bad), ...flags);
    assert.deepEqual([report.written, report.deleted, report.unchanged], [2, 1, 5]);
    const undone = await line.imported('brands', 'undo.jsonl', '--overwrite');
    assert.deepEqual([undone.written, undone.deleted], [2, 1]);
    assert.deepEqual(await line.exported('brands'), before);
  });

  test(`an undo file is empty without changes, and removed after a failure, on ${engine}`, async (t) => {
    const line = await openLine(t, engine);
    const file = line.write('first.jsonl', [balance('a', 1)]);
    await line.imported('balances', file);
    await line.imported('balances', file, '--undo-file', 'none.jsonl');
    assert.deepEqual(line.lines('none.jsonl'), []);
    const bad = line.write('bad.jsonl', [balance('a', 2, later), { nonsense: true }]);
    const failed = await line.run(['import', 'balances', bad, '--undo-file', 'undo.jsonl', '--json']);
    assert.equal(failed.status, 1);
    assert.ok(!existsSync(line.here('undo.jsonl')));
    const skipped = await line.imported('balances', bad, '--skip-invalid', '--undo-file', 'undo.jsonl');
    assert.deepEqual([skipped.written, line.lines('undo.jsonl').length], [1, 1]);
  });

  test(`nothing is written if the undo file cannot be, on ${engine}`, async (t) => {
    const line = await openLine(t, engine);
    const many = Array.from({ length: 1_500 }, (_, index) => balance(`m${index}`, index));
    const file = line.write('new.jsonl', many);
    line.write('exists.jsonl', ['keep me']);
    mkdirSync(line.here('folder'));
    for (const [path, said] of [
      ['exists.jsonl', /^Cannot create the undo file exists\.jsonl: the file exists\. Name a new file\.$/m],
      ['folder', /^Cannot create the undo file folder: /],
      [
        join('missing', 'undo.jsonl'),
        /^Cannot create the undo file missing\/undo\.jsonl: its folder does not exist/,
      ],
    ] as const) {
      const words = ['import', 'balances', file, '--undo-file', path, '--json'];
      assertFailed(await line.run(words, {}), 1, said);
    }
    assert.deepEqual(line.lines('exists.jsonl'), ['keep me']);
    // The shell limits the size of files that the command writes, as a full disk does: 100 KiB.
    const runner = ['/bin/sh', '-c', 'ulimit -f 200; trap "" XFSZ; exec "$0" "$@"'];
    const words = ['import', 'balances', file, '--undo-file', 'undo.jsonl', '--json'];
    assertFailed(await line.run(words, { runner }), 1, /^Cannot write the undo file: EFBIG/);
    assert.ok(!existsSync(line.here('undo.jsonl')));
    assert.deepEqual(await line.exported('balances'), []);
    assert.deepEqual(readdirSync(line.folder).toSorted(), ['exists.jsonl', 'folder', 'new.jsonl']);
  });

  test(`--overwrite writes older lines with the time of the import, on ${engine}`, async (t) => {
    const line = await openLine(t, engine);
    const startedAt = new Date().toISOString();
    await line.imported('balances', line.write('first.jsonl', [balance('a', 1, later), balance('b', 2)]));
    const old = line.write('old.jsonl', [balance('a', 5), balance('b', 2)]);
    assert.equal((await line.imported('balances', old)).stale, 1);
    const report = await line.imported('balances', old, '--overwrite');
    assert.deepEqual([report.written, report.unchanged, report.stale], [1, 1, 0]);
    const { stdout } = await line.run(['export', 'balances']);
    const [a, b] = stdout
      .split('\n')
      .slice(0, 2)
      .map((text) => JSON.parse(text));
    assert.deepEqual([a.amount, b.amount, b.updated_at], [5, 2, balance('b', 2).updated_at]);
    assert.ok(a.updated_at >= startedAt, a.updated_at);
  });
}

test('explains lines that stay stale with --overwrite, and an input without records', async (t) => {
  const line = await openLine(t, 'sqlite');
  const old = line.write('old.jsonl', [balance('a', 1)]);
  await line.imported('balances', old);
  await line.store.eraseCustomer('alice', byTest);
  const stale = await line.run(['import', 'balances', old, '--overwrite']);
  assert.match(stale.stdout, / 0 written, 0 unchanged, 1 stale/);
  assert.match(stale.stderr, /^1 of 1 lines are stale: .* or the customer was erased\.\n$/);
  const empty = await line.run(['import', 'balances', line.write('empty.jsonl', [])]);
  assert.deepEqual([empty.status, empty.stderr], [0, 'The input has no records.\n']);
});

test('says what to do instead of an undo file or --overwrite where they cannot be used', async (t) => {
  const line = await openLine(t, 'sqlite');
  const file = line.write('given.jsonl', []);
  const undo = ['--undo-file', 'undo.jsonl'];
  for (const [words, ...said] of [
    [['grants', file, ...undo], /--undo-file cannot be used: consent only shrinks.*REVOKED/],
    [['grants', file, '--overwrite'], /--overwrite cannot be used: consent only shrinks.*REVOKED/],
    [['balances', file, ...undo, '--dry-run'], /--undo-file needs an import that writes: omit --dry-run/],
    [['balances', '-', ...undo, '--follow'], /--undo-file needs a whole file: make an export/],
    [['balances', '-', '--overwrite', '--follow'], /--overwrite needs a whole file: omit --follow/],
    [['balances', file, '--undo-file', 'undo.csv'], /use a name that does not end in \.csv/],
    [
      ['balances', file, ...undo, '--rejected-file', './undo.jsonl'],
      /--undo-file and --rejected-file name the same file: name two files/,
    ],
  ] as const) {
    assertFailed(await line.run(['import', ...words], {}), 2, ...said);
  }
  assert.ok(!existsSync(line.here('undo.jsonl')));
});
