import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { grant } from '../../../../store/test/suite/records.ts';
import { byTest } from '../../../../testkit/fixtures/fixture.ts';
import { assertFailed, withPartners } from '../../../../testkit/fixtures/run.ts';

test('carries erasures to another database with their times, and says what it deleted', async (t) => {
  const [line, other] = [await withPartners(t, ['acme']), await withPartners(t, ['acme'])];
  for (const { inside } of [line, other]) await inside((store) => store.createGrant(grant, byTest));
  assert.match((await line.run(['export', 'erasures'])).stderr, /^This database has no erasures, /);
  await line.json('customers', 'erase', 'alice', '--yes');
  const { stdout: input } = await line.run(['export', 'erasures']);
  assert.match(input, /^\{"customer_id":"alice","erased_at":"[^"]{23}Z"\}\n$/);

  const file = join(line.folder, 'erasures.jsonl');
  writeFileSync(file, input);
  const counts = { read: 1, erased: 1, balances: 0, grants: 1 };
  assert.deepEqual(await other.json('import', 'erasures', file, '--actor', 'eve'), counts);
  const again = await other.run(['import', 'erasures', '-'], { input });
  assert.deepEqual(
    [again.status, again.stdout],
    [0, '1 read, 0 customers erased: deleted 0 balances and 0 grants.\n'],
  );
  assert.equal((await other.run(['export', 'erasures'])).stdout, input);
  const [entry, ...more] = await other.json<object[]>('audit', 'list', '--action', 'import erasures');
  const details = { erased: 1, balances: 0, grants: 1 };
  assert.partialDeepStrictEqual(entry, { actor: 'eve', target: 'customers', details });
  assert.doesNotMatch(JSON.stringify([entry, more]), /alice/);
  assert.equal(more.length, 0);
});

test('erases nothing if a line is wrong, and reports each wrong line', async (t) => {
  const line = await withPartners(t, ['acme']);
  await line.inside((store) => store.createGrant(grant, byTest));
  const at = new Date().toISOString();
  const ahead = new Date(Date.now() + 6 * 60_000).toISOString();
  const lines = [
    { customer_id: 'alice', erased_at: at },
    { customer_id: 'alice', erased_at: at, id: 'x' },
    { customer_id: 'alice', erased_at: 'yesterday' },
    { customer_id: 'alice', erased_at: ahead },
    { customer_id: '', erased_at: at },
    { customer_id: 'x'.repeat(129), erased_at: at },
    { customer_id: 'alice' },
  ];
  const input = `${lines.map((one) => JSON.stringify(one)).join('\n')}\n{`;
  assertFailed(
    await line.run(['import', 'erasures', '-'], { input }),
    1,
    /^line 2: id: UNKNOWN_FIELD: /m,
    /^line 3: erased_at: INVALID_TIME: /m,
    /^line 4: erased_at: INVALID_TIME: .* ahead of the clock /m,
    /^line 5: customer_id: VALUE_EMPTY: /m,
    /^line 6: customer_id: VALUE_TOO_LONG: /m,
    /^line 7: erased_at: MISSING_REQUIRED_FIELD: /m,
    /^line 8: INVALID_JSON: /m,
    /^Nothing was written: 7 lines rejected\. FILE must be the output of "export erasures"\.$/m,
  );
  const grants = await line.json<object[]>('grants', 'list', '--customer', 'alice');
  assert.equal(grants.length, 1);
  assert.equal((await line.run(['export', 'erasures'])).stdout, '');
});
