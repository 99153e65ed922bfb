/** That every query is read or refused by the rules is the property of test/fuzz/parsing.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertRefused, errorsOf } from '../../../testkit/fixtures/http.ts';
import { startTestService } from '../../../testkit/service/service.ts';

test('reports all faults, in the order of the parameter table', async (t) => {
  const { balances } = await startTestService(t);
  const query = '?limit=0&cursor=&grant_id=%00&type=checking&customer_id=&reference_id=r';
  const answer = await balances(query, { key: keys.acme });
  const found = errorsOf(answer).map(({ code, field }) => `${code} ${field}`);
  assert.deepEqual(
    [answer.status, ...found],
    [
      ...[400, 'VALUE_EMPTY customer_id', 'INVALID_ENUM_VALUE type', 'INVALID_CHARACTER grant_id'],
      ...['VALUE_EMPTY cursor', 'VALUE_TOO_LOW limit', 'UNKNOWN_QUERY_PARAMETER reference_id'],
    ],
  );
});

test('checks the parameters, then the cursor, then the grant', async (t) => {
  const { balances } = await startTestService(t);
  for (const [more, ...error] of [
    ['limit=0', 'VALUE_TOO_LOW', 'limit'],
    ['cursor=x', 'INVALID_CURSOR', 'cursor'],
    ['cursor=x&limit=0', 'VALUE_TOO_LOW', 'limit'],
  ] as const) {
    const answer = await balances(`?customer_id=nobody&type=CHECKING&${more}`, { key: keys.acme });
    assertRefused(answer, 400, error);
  }
});

test('says what to do about an empty value, by kind: required, optional, cursor', async (t) => {
  const { balances } = await startTestService(t);
  const answer = await balances('?customer_id=&type=CHECKING&grant_id=&cursor=', { key: keys.acme });
  const details = errorsOf(answer).map(({ detail }) => detail);
  assert.match(details[0]!, /^customer_id is empty: set it to a value\.$/);
  assert.match(details[1]!, /^grant_id is empty: set it to a value or leave it out\.$/);
  assert.match(details[2]!, /^cursor is empty: stop after /);
});
