/** That every query is read or refused by the rules is the property of test/fuzz/parsing.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { errorsOf } from '../../../testkit/fixtures/http.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { newApiKey } from '../../src/auth/api-key.ts';

test('reports all faults: known parameters in table order, then unknown ones in request order', async (t) => {
  const { brands } = await startTestService(t);
  const answer = await brands('?zebra=1&reference_id=&limit=x&apple=2&cursor=', { key: keys.acme });
  const found = errorsOf(answer).map(({ code, field }) => `${code} ${field}`);
  assert.deepEqual(
    [answer.status, ...found],
    [
      ...[400, 'VALUE_EMPTY cursor', 'EXPECTED_INTEGER limit', 'VALUE_EMPTY reference_id'],
      ...['UNKNOWN_QUERY_PARAMETER zebra', 'UNKNOWN_QUERY_PARAMETER apple'],
    ],
  );
});

test('suggests the nearest parameter if its name is close', async (t) => {
  const { brands } = await startTestService(t);
  const detailOf = async (query: string) => errorsOf(await brands(query, { key: keys.acme }))[0]?.detail;
  const detail = await detailOf('?refrence_id=1');
  assert.equal(detail, 'Remove the unknown parameter refrence_id, or rename it to reference_id.');
  for (const name of ['customer_id', 'customer']) {
    assert.equal(await detailOf(`?${name}=1`), `Remove the unknown parameter ${name}.`);
  }
});

test('never repeats a key that was sent as a parameter or as its name, whole or in part', async (t) => {
  const { brands } = await startTestService(t);
  const key = newApiKey('sandbox');
  const encoded = `%70${key.slice(1)}`;
  const twice = key.replaceAll('_', '%255F');
  const names = [key, `a${key}b`, encoded, `${encoded}%zz`, twice, key.slice(0, 30), key.slice(8)];
  for (const query of [...names.map((name) => `?${name}=1`), `?reference_id=${key}%00`]) {
    const { status, text } = await brands(query, { key: keys.acme });
    assert.equal(status, 400);
    assert.ok(!text.includes(key.slice(10, 28)), query);
  }
});

test('never repeats a value', async (t) => {
  const { brands } = await startTestService(t);
  const { text } = await brands('?limit=seventeen&cursor=opensesame', { key: keys.acme });
  assert.doesNotMatch(text, /seventeen|opensesame/);
});
