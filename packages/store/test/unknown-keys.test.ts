/** An unknown key costs an engine as much as a known one, so that the response time does not reveal it. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { digestOfKey } from '../../service/src/auth.ts';
import { fillFixture, keys } from '../../testkit/fixtures/fixture.ts';
import { connectTo } from '../../testkit/servers/postgres.ts';
import { openTestDatabase } from '../../testkit/service/database.ts';
import { keyOnFile, nearestKey } from '../src/sql/keys.ts';
import type { Row } from '../src/sql/statement.ts';

/** Before the first stored digest, after the last, and of a key that was never issued. */
const unknown = [new Uint8Array(32), new Uint8Array(32).fill(255), digestOfKey(keys.neverIssued)];

const engines = {
  sqlite: (t: TestContext, url: string) => {
    const db = new DatabaseSync(url.replace('sqlite:', ''), { readOnly: true });
    t.after(() => db.close());
    const find = db.prepare(nearestKey('$digest'));
    return async (digest: Uint8Array): Promise<Row> => find.get({ digest })!;
  },
  postgres: async (t: TestContext, url: string) => {
    const client = await connectTo(t, url);
    return async (digest: Uint8Array): Promise<Row> =>
      (await client.query(nearestKey('$1'), [digest])).rows[0];
  },
};

for (const [engine, connect] of Object.entries(engines)) {
  test(`${engine} reads a row for an unknown key, too, and it is not taken for the key`, async (t) => {
    const { url } = await openTestDatabase(t, 'fixture', fillFixture, engine);
    const rowOf = await connect(t, url);
    assert.equal(keyOnFile(Object.values(await rowOf(digestOfKey(keys.acmeRevoked))))?.isRevoked, true);
    for (const digest of unknown) {
      const row = await rowOf(digest);
      assert.ok(row.partner_id);
      assert.equal(keyOnFile(Object.values(row)), undefined);
    }
  });
}
