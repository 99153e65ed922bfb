import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertRefused } from '../../../testkit/fixtures/http.ts';
import { startTestService } from '../../../testkit/fixtures/service.ts';
import { detailsOf, refusesLimits, refusesParameters } from '../../../testkit/listing-rules/parameters.ts';

refusesLimits('balances', 'customer_id=alice&type=CHECKING&');

refusesParameters('balances', [
  [
    'names both required parameters when both are absent',
    '',
    ...['MISSING_REQUIRED_PARAMETER customer_id', 'MISSING_REQUIRED_PARAMETER type'],
  ],
  [
    'reports all faults, in the order of the parameter table',
    '?limit=0&cursor=&grant_id=%00&type=checking&customer_id=&reference_id=r',
    ...['VALUE_EMPTY customer_id', 'INVALID_ENUM_VALUE type', 'INVALID_CHARACTER grant_id'],
    ...['VALUE_EMPTY cursor', 'VALUE_TOO_LOW limit', 'UNKNOWN_QUERY_PARAMETER reference_id'],
  ],
  [
    'refuses a value that is longer than its record field allows',
    `?customer_id=${'c'.repeat(129)}&type=CHECKING&grant_id=${'g'.repeat(257)}`,
    ...['VALUE_TOO_LONG customer_id', 'VALUE_TOO_LONG grant_id'],
  ],
  ['the type must match exactly', '?customer_id=alice&type=CHECKING+', 'INVALID_ENUM_VALUE type'],
  ['an empty type is VALUE_EMPTY', '?customer_id=alice&type=', 'VALUE_EMPTY type'],
]);

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

test('accepts values as long as their fields allow, in code points', async (t) => {
  const { balances } = await startTestService(t);
  const longest = (characters: number) => encodeURIComponent('é'.repeat(characters));
  const query = `?customer_id=${longest(128)}&type=CHECKING&grant_id=${longest(256)}`;
  assertRefused(await balances(query, { key: keys.acme }), 403, ['GRANT_NOT_FOUND', 'grant_id']);
  const withCursor = await balances(`${query}&cursor=${'c'.repeat(1_024)}`, { key: keys.acme });
  assertRefused(withCursor, 400, ['INVALID_CURSOR', 'cursor']);
});

test('says what to do about an empty value, by kind: required, optional, cursor', async (t) => {
  const { balances } = await startTestService(t);
  const details = detailsOf(
    await balances('?customer_id=&type=CHECKING&grant_id=&cursor=', { key: keys.acme }),
  );
  assert.match(details[0]!, /^customer_id is empty: set it to a value\.$/);
  assert.match(details[1]!, /^grant_id is empty: set it to a value or leave it out\.$/);
  assert.match(details[2]!, /^cursor is empty: stop after /);
});
