import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertFailed, withPartners } from '../../../../testkit/fixtures/run.ts';

test('imports no partners from a file with a wrong line, and reports the line', async (t) => {
  const line = await withPartners(t, ['acme']);
  const { stdout: good } = await line.run(['partners', 'export']);
  assert.match(good, /^\{"environment":"production","id":"acme",.*"keys":\[\]\}\n$/);
  const key = { id: '..', digest: 'AB', last_four: 'a-b', scopes: ['ALL'], created_at: 'now', key: 'k' };
  const bad = ['{', '5', '{"id":"x","keys":{}}', JSON.stringify({ ...JSON.parse(good), keys: [key, 7] })];
  const input = `${good.replaceAll('acme', 'new')}${bad.join('\n')}`;
  const refused = await line.run(['partners', 'import', '-'], { input });
  assertFailed(
    refused,
    1,
    /^line 2: INVALID_JSON: /m,
    /^line 3: EXPECTED_OBJECT: /m,
    /^line 4: keys: /m,
    /^line 4: name: MISSING_REQUIRED_FIELD: /m,
    /^line 5: keys\.0\.id: INVALID_CHARACTER: Choose another id: /m,
    /^line 5: keys\.0\.digest: /m,
    /^line 5: keys\.0\.last_four: /m,
    /^line 5: keys\.0\.scopes: /m,
    /^line 5: keys\.0\.created_at: INVALID_TIME: /m,
    /^line 5: keys\.0\.key: UNKNOWN_FIELD: /m,
    /^line 5: keys\.1: EXPECTED_OBJECT: /m,
    /^Nothing was written: 4 lines /m,
  );
  const ofSandbox = good.replace('production', 'sandbox');
  assertFailed(
    await line.run(['partners', 'import', '-'], { input: ofSandbox }),
    1,
    /^line 1: environment: INVALID_ENUM_VALUE: Set this field to production\./m,
  );
  assert.equal((await line.run(['partners', 'export'])).stdout, good);
  const tried = await line.run(['partners', 'import', '-', '--dry-run'], { input: input.split('\n')[0]! });
  assert.deepEqual(
    [tried.status, tried.stdout],
    [
      0,
      '1 partner and 0 keys would be created, 0 partners and 0 keys would be changed. ' +
        '0 partners and 0 keys would stay unchanged.\n',
    ],
  );
  assert.equal((await line.run(['partners', 'export'])).stdout, good);
  const missing = join(line.folder, 'missing.jsonl');
  assertFailed(
    await line.run(['partners', 'import', missing]),
    1,
    /^Cannot read .*missing\.jsonl: the file does not exist/,
  );
});

test('a dry run counts what the real run changes, and finds its conflicts', async (t) => {
  const [line, other] = [await withPartners(t, ['acme', 'zenith']), await withPartners(t, ['acme'])];
  await line.json('keys', 'create', '--partner', 'acme', '--scope', 'BRANDS_READ', '--actor', 'eve');
  const { stdout: input } = await line.run(['partners', 'export']);
  const bring = async (...words: string[]) => {
    const { status, stdout, stderr } = await other.run(['partners', 'import', '-', '--json', ...words], {
      input,
    });
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout);
  };
  const expected = {
    ...{ partners: 2, keys: 1, created: { partners: 1, keys: 1 } },
    ...{ changed: { partners: 0, keys: 0 }, unchanged: { partners: 1, keys: 0 }, not_applied: [] },
  };
  assert.deepEqual(await bring('--dry-run'), expected);
  assert.deepEqual(await bring(), expected);
  assert.deepEqual((await bring('--dry-run')).unchanged, { partners: 2, keys: 1 });
  assert.equal((await other.json<{ created_by: string }[]>('keys', 'list'))[0]?.created_by, 'eve');
  const wider = input.replace('"BRANDS_READ"', '"BRANDS_READ","BALANCES_READ"');
  const kept = await other.run(['partners', 'import', '-'], { input: wider });
  assert.match(
    kept.stdout,
    /unchanged\. Not applied to 1 key: other scopes or a later expiry, .* never gets\. --json lists them\./,
  );
  const clash = input.replace(/KEY_[0-9a-f]{32}/, 'KEY_0');
  const words = ['partners', 'import', '-', '--dry-run'];
  assertFailed(
    await other.run(words, { input: clash }),
    1,
    /^Nothing was written: the database, or the file itself, has a key/,
  );
});
