/** A key that is not on file must cost an engine what one costs that is: time would tell them apart. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openTestDatabase } from '../../../testkit/fixtures/database.ts';
import { fillFixture, keys } from '../../../testkit/fixtures/fixture.ts';
import { connectTo } from '../../../testkit/servers/postgres.ts';
import { digestOfKey } from '../../src/auth/api-key.ts';
import { keyOnFile, nearestKey } from '../../src/store/sql/keys.ts';

/** Before the first digest on file, after the last, and a key that was never issued. */
const unknown = [new Uint8Array(32), new Uint8Array(32).fill(255), digestOfKey(keys.neverIssued)];

test('the embedded database reads a row also for an unknown key, and it is nobody', async (t) => {
  const { url } = await openTestDatabase(t, 'fixture', fillFixture, 'sqlite');
  const db = new DatabaseSync(url.replace('sqlite:', ''), { readOnly: true });
  t.after(() => db.close());
  const find = db.prepare(nearestKey('$digest'));
  const rowOf = (digest: Uint8Array) => find.get({ digest })!;
  assert.equal(keyOnFile(rowOf(digestOfKey(keys.acmeRevoked)))?.isRevoked, true);
  for (const digest of unknown) {
    assert.ok(rowOf(digest).partner_id);
    assert.equal(keyOnFile(rowOf(digest)), undefined);
  }
});

test('so does Postgres', async (t) => {
  const { url } = await openTestDatabase(t, 'fixture', fillFixture, 'postgres');
  const client = await connectTo(t, url);
  const rowOf = async (digest: Uint8Array) => (await client.query(nearestKey('$1'), [digest])).rows[0];
  assert.equal(keyOnFile(await rowOf(digestOfKey(keys.acmeRevoked)))?.isRevoked, true);
  for (const digest of unknown) {
    assert.ok((await rowOf(digest)).partner_id);
    assert.equal(keyOnFile(await rowOf(digest)), undefined);
  }
});
