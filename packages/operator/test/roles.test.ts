/** Commands in a role of the database that is too small for them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RoleName } from '../../store/src/postgres/roles.ts';
import { assertFailed, run } from '../../testkit/fixtures/run.ts';
import { connectTo } from '../../testkit/servers/postgres.ts';
import { urlInRole } from '../../testkit/servers/roles.ts';
import { fixtureDatabase } from '../../testkit/service/database.ts';

/** A role, a command, and the role that it needs. */
const refused: readonly (readonly [RoleName, command: string, needs: RoleName])[] = [
  ['network_serve', 'partners create --name New', 'network_operate'],
  ['network_import', 'keys list', 'network_support'],
  ['network_import', 'keys create --partner acme --scope BRANDS_READ', 'network_operate'],
  ['network_support', 'partners enable acme', 'network_operate'],
  ['network_support', 'import balances -', 'network_import'],
  ['network_support', 'export balances', 'network_operate'],
  ['network_serve', 'admin-keys list', 'network_support'],
  ['network_support', 'admin-keys create --name ci --role ADMIN', 'network_operate'],
  ['network_admin', 'admin-keys create --name ci --role ADMIN', 'network_operate'],
  ['network_operate', 'receipts prune --older-than 31d', 'network_retention'],
  ['network_operate', 'usage prune --older-than 31d', 'network_retention'],
  ['network_retention', 'customers erase alice --yes', 'network_operate'],
];

test('a command in a role that is too small says which role it needs, and changes nothing', async (t) => {
  const url = await fixtureDatabase(t);
  const owner = await connectTo(t, url);
  await owner.query(`update partners set disabled_at = now() where id = 'acme'`);
  await owner.query(`insert into receipts (at, request_id, partner_id, key_id, customer_id, outcome)
    values (now() - interval '99 days', gen_random_uuid(), 'acme', 'k', 'alice', 'GRANTED')`);
  await owner.query(
    `insert into usage values (now() - interval '99 days', 'acme', 'k', 'listBrands', 'OK', 1)`,
  );
  const tables = 'partners api_keys admin_keys balances grants receipts usage audit_log'.split(' ');
  const counts = async () =>
    (await owner.query(`select ${tables.map((table) => `(select count(*) from ${table}) as ${table}`)}`))
      .rows;
  const before = await counts();
  for (const [role, command, needs] of refused) {
    const DATABASE_URL = await urlInRole(t, url, role);
    const finished = await run(command.split(' '), {
      variables: { DATABASE_URL, ENVIRONMENT: 'sandbox' },
      input: '{"customer_id":"alice","type":"CHECKING","currency":"USD","amount":1}\n',
    });
    const sentence = new RegExp(
      `^The database denies access: .* This command needs the role ${needs}: .*\\n`,
    );
    assertFailed(finished, 1, sentence);
  }
  assert.deepEqual(await counts(), before);
});
