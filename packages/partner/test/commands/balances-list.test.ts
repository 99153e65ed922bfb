import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { run } from '../../../testkit/fixtures/run.ts';
import { partnerVariables } from '../../../testkit/service/partner.ts';
import { startTestService } from '../../../testkit/service/service.ts';

const list = ['balances', 'list'];

test("lists a customer's balances, by a grant or any, to the last cent", async (t) => {
  const { port } = await startTestService(t);
  const variables = partnerVariables(port);
  const words = [...list, '--customer', 'alice', '--grant-id', 'g-active', '--type', 'CHECKING', '--all'];
  const { status, stdout, stderr } = await run(words, { variables });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  const amounts = stdout.match(/"amount":-?\d+/g);
  assert.deepEqual(amounts, ['"amount":9007199254740991', '"amount":0', '"amount":-9007199254740991']);
  const none = await run([...list, '--customer', 'without-balances'], { variables });
  assert.deepEqual(none, { status: 0, stdout: '', stderr: '' });
});

test('--curl prints one line without the key that gets the same answer', async (t) => {
  const service = await startTestService(t);
  const variables = partnerVariables(service.port);
  const { PARTNER_NETWORK_BASE_URL = '' } = variables;
  // It sends no request, so it needs no key.
  const lineOf = async (...words: string[]) => {
    const printed = await run([...words, '--curl'], { variables: { PARTNER_NETWORK_BASE_URL } });
    assert.deepEqual([printed.status, printed.stderr], [0, '']);
    assert.match(printed.stdout, /^curl [^\n]*"Authorization: Bearer \$PARTNER_NETWORK_API_KEY"[^\n]*\n$/);
    return printed.stdout;
  };
  const pasted = async (line: string) =>
    (await promisify(execFile)('sh', ['-c', line], { env: { ...process.env, ...variables } })).stdout;
  const printed = await lineOf(...list, '--customer', 'alice', '--limit', '2', '--grant-id', 'g-active');
  const { balances }: { balances: { id: string }[] } = JSON.parse(await pasted(printed));
  assert.deepEqual(pluck(balances, 'id'), ['bal1', 'bal2']);

  // Without correct quoting and encoding, this finds another brand or no brand.
  const reference = `it's "50%" & more; $HOME \`id\` #1 + [a-b] {x} \\ 🦊 !`;
  await service.database.execute('update brands set reference_id = $1 where id = $2', reference, 'b2');
  const found = await pasted(await lineOf('brands', 'list', '--reference-id', reference));
  assert.equal(
    found,
    (await service.brands(`?reference_id=${encodeURIComponent(reference)}`, { key: keys.acme })).text,
  );
  assert.equal(JSON.parse(found).brands[0].id, 'b2');
});
