/** The file of rejected lines. */
import assert from 'node:assert/strict';
import { chmodSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { byTest } from '../../../../testkit/fixtures/fixture.ts';
import { assertFailed } from '../../../../testkit/fixtures/run.ts';
import { balance, engines, openLine } from './engines.ts';

type Line = Awaited<ReturnType<typeof openLine>>;

/** The number, the codes and the record of each line. */
function kept(line: Line, name: string): unknown[] {
  return line.lines(name).map((text) => {
    const { line: number, errors, record } = JSON.parse(text);
    return [number, errors.map(({ code }: { code: string }) => code).join(), record];
  });
}

const flags = ['--skip-invalid', '--rejected-file', 'rejected.jsonl'];
const untimed = { ...balance('u', 1), updated_at: undefined, created_at: undefined };

for (const engine of engines) {
  test(`keeps each rejected line as it was read, and appends, on ${engine}`, async (t) => {
    const line = await openLine(t, engine);
    const bad = '{"customer_id":"alice", "amount": 1.5}';
    const file = line.write('given.jsonl', [balance('a', 1), bad, '', 'nonsense']);
    const report = await line.imported('balances', file, ...flags);
    assert.deepEqual([report.written, report.rejected_count], [1, 2]);
    const codes = 'MISSING_REQUIRED_FIELD,MISSING_REQUIRED_FIELD,EXPECTED_INTEGER';
    const first = [
      [2, codes, bad],
      [4, 'INVALID_JSON', 'nonsense'],
    ];
    assert.deepEqual(kept(line, 'rejected.jsonl'), first);
    assert.equal(statSync(line.here('rejected.jsonl')).mode & 0o777, 0o600);
    const csv = line.write('given.csv', ['id,customer_id,type,currency,amount', 'x,alice,"CHECKING",USD,']);
    await line.imported('balances', csv, ...flags);
    assert.deepEqual(kept(line, 'rejected.jsonl').slice(2), [
      [2, 'MISSING_REQUIRED_FIELD', 'x,alice,"CHECKING",USD,'],
    ]);
  });

  test(`keeps lines of a file, a pipe and a feed that the store refuses, on ${engine}`, async (t) => {
    const line = await openLine(t, engine);
    await line.imported('balances', line.write('first.jsonl', [balance('a', 1)]));
    await line.store.eraseCustomer('alice', byTest);
    const records = [untimed, { ...untimed, customer_id: 'zoe' }];
    const file = line.write('given.jsonl', records);
    const expected = [[1, 'CUSTOMER_ERASED', JSON.stringify(untimed)]];
    const report = await line.imported('balances', file, ...flags);
    assert.deepEqual([report.written, report.rejected_count], [1, 1]);
    assert.deepEqual(kept(line, 'rejected.jsonl'), expected);

    const input = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    const stop = ['--rejected-file', 'stopped.jsonl', '--json'];
    const stopped = await line.run(['import', 'balances', '-', ...stop], { input });
    assert.deepEqual([stopped.status, JSON.parse(stopped.stdout).written], [1, 0]);
    assert.deepEqual(kept(line, 'stopped.jsonl'), expected);

    const follow = ['import', 'balances', '-', '--follow', '--rejected-file', 'fed.jsonl'];
    const fed = await line.run(follow, { input: `${input}nonsense\n` });
    assert.equal(fed.status, 0, fed.stderr);
    assert.match(fed.stderr, /^line 1 \(id u\): customer_id: CUSTOMER_ERASED: /m);
    assert.deepEqual(kept(line, 'fed.jsonl').toSorted(), [...expected, [3, 'INVALID_JSON', 'nonsense']]);

    const grants = ['c', 'a', 'b'].map((id) => ({ id, partner_id: 'acme', customer_id: 'alice' }));
    const granted = ['import', 'grants', '-', '--follow', '--rejected-file', 'grants.jsonl'];
    await line.run(granted, { input: grants.map((grant) => `${JSON.stringify(grant)}\n`).join('') });
    assert.deepEqual(
      kept(line, 'grants.jsonl'),
      grants.map((grant, index) => [index + 1, 'CUSTOMER_ERASED', JSON.stringify(grant)]),
    );
  });

  test(`writes nothing if the file cannot be written, on ${engine}`, async (t) => {
    const line = await openLine(t, engine);
    const file = line.write('given.jsonl', [balance('a', 1), 'nonsense']);
    for (const [path, why] of [
      ['/dev/full', 'ENOSPC'],
      ['missing/rejected.jsonl', 'its folder does not exist\\.'],
      ['.', 'it is a folder\\.'],
    ] as const) {
      const words = ['import', 'balances', file, '--skip-invalid', '--rejected-file', path, '--json'];
      assertFailed(
        await line.run(words, {}),
        1,
        new RegExp(`^Cannot write the file of rejected lines ${path}: ${why}`),
      );
    }
    const same = ['import', 'balances', file, '--skip-invalid', '--rejected-file', file, '--json'];
    chmodSync(line.here(file), 0o640);
    assertFailed(await line.run(same), 1, /given\.jsonl cannot be the input and the file of rejected lines/);
    assert.deepEqual([line.lines(file).length, statSync(line.here(file)).mode & 0o777], [2, 0o640]);
    const missing = await line.run(
      ['import', 'balances', 'no.jsonl', '--undo-file', 'no.jsonl', '--json'],
      {},
    );
    assertFailed(missing, 1, /^Cannot read no\.jsonl: the file does not exist/);
    // The store refuses this line when all others are written, but not yet committed.
    await line.store.createGrant(
      {
        id: 'g',
        partner_id: 'acme',
        customer_id: 'alice',
        action: 'CHECKING_BALANCE',
        status: 'ACTIVE',
        created_at: '2026-01-01T00:00:00.000Z',
        updated_at: '2026-01-01T00:00:00.000Z',
      },
      byTest,
    );
    const grants = ['g', 'h'].map((id) => ({ id, partner_id: 'zenith', customer_id: 'alice' }));
    const words = ['import', 'grants', line.write('grants.jsonl', grants), '--skip-invalid', '--json'];
    const failed = await line.run([...words, '--rejected-file', '/dev/full']);
    assertFailed(failed, 1, /^Cannot write the file of rejected lines/);
    assert.deepEqual([await line.exported('balances'), (await line.exported('grants')).length], [[], 1]);
  });
}
