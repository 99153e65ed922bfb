import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { digestOfKey } from '../../src/auth.ts';

test('logs one line a request, with nothing of its query, path or answer', async (t) => {
  const service = await startTestService(t);
  const granted = await service.balances('?customer_id=alice&type=CHECKING&limit=1', { key: keys.acme });
  const refused = await service.brands('?limit=0&secret_name=secret_value', { key: keys.acme });
  const lost = await service.call('/secret/path?token=x');
  const key_id = (await service.store.findKey(digestOfKey(keys.acme)))?.id;
  const lines = service.lines().map((line) => {
    const { level: _, time: __, pid: ___, hostname: ____, duration_ms, ...rest } = line;
    assert.ok(duration_ms > 0 && duration_ms < 10_000);
    return rest;
  });
  const idOf = (answer: typeof granted) => answer.headers['x-request-id'];
  const msg = 'request';
  const ofAcme = { partner_id: 'acme', key_id, msg };
  assert.deepEqual(lines, [
    { request_id: idOf(granted), operation: 'listBalances', ...ofAcme, status: 200 },
    { request_id: idOf(refused), operation: 'listBrands', ...ofAcme, status: 400, code: 'VALUE_TOO_LOW' },
    { request_id: idOf(lost), status: 404, code: 'NOT_FOUND', msg },
  ]);
  const { cursor, balances } = JSON.parse(granted.text);
  for (const secret of [cursor, String(balances[0].amount), 'alice', 'secret', keys.acme.slice(8, 40)]) {
    assert.ok(!service.logs().includes(secret), `${secret} is in the log`);
  }
});

test('the log has partner and key of a refused key that is stored, and of no other', async (t) => {
  const service = await startTestService(t);
  const cases = [
    [keys.acmeRevoked, 'API_KEY_REVOKED', 'acme'],
    [keys.acmeExpired, 'API_KEY_EXPIRED', 'acme'],
    [keys.closed, 'PARTNER_DISABLED', 'closed'],
    [keys.acmeBalancesOnly, 'INSUFFICIENT_SCOPES', 'acme'],
    [keys.neverIssued, 'UNAUTHORIZED', undefined],
    [keys.live, 'API_KEY_ENVIRONMENT_MISMATCH', undefined],
    ['nothing', 'UNAUTHORIZED', undefined],
  ] as const;
  for (const [key, code, partnerId] of cases) {
    await service.brands('', { key });
    const line = service.lines().at(-1);
    const id = (await service.store.findKey(digestOfKey(key)))?.id;
    assert.equal(id === undefined, partnerId === undefined);
    assert.deepEqual([line.code, line.partner_id, line.key_id], [code, partnerId, id]);
    assert.ok(!service.logs().includes(key), 'a key is in the log');
    const digest = Buffer.from(digestOfKey(key)).toString('hex');
    assert.ok(!service.logs().includes(digest), 'a digest is in the log');
  }
});
