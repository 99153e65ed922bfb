import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertRefused, errorsOf } from '../../../testkit/fixtures/http.ts';
import { startTestService } from '../../../testkit/fixtures/service.ts';
import { detailsOf, refusesLimits, refusesParameters } from '../../../testkit/listing-rules/parameters.ts';
import { newApiKey } from '../../src/auth/api-key.ts';

const long = (characters: number) => encodeURIComponent('🦊'.repeat(characters));

refusesLimits('brands', '');

refusesParameters('brands', [
  [
    'reports all faults: known parameters in table order, then unknown ones in request order',
    '?zebra=1&reference_id=&limit=x&apple=2&cursor=',
    ...['VALUE_EMPTY cursor', 'EXPECTED_INTEGER limit', 'VALUE_EMPTY reference_id'],
    ...['UNKNOWN_QUERY_PARAMETER zebra', 'UNKNOWN_QUERY_PARAMETER apple'],
  ],
  ['refuses an empty cursor, so that a loop that sends one back stops', '?cursor=', 'VALUE_EMPTY cursor'],
  ['a name without a value is empty', '?limit', 'VALUE_EMPTY limit'],
  ['a nameless parameter is reported without a field', '?=1', 'UNKNOWN_QUERY_PARAMETER'],
  [
    'a parameter that is given twice has no other fault',
    '?limit=&limit=%zz&reference_id=a&reference_id=a',
    ...['CONFLICTING_PARAMETERS limit', 'CONFLICTING_PARAMETERS reference_id'],
  ],
  ['recognizes a parameter in percent-encoding', '?limit=1&l%69mit=1', 'CONFLICTING_PARAMETERS limit'],
  ['reports a repeated unknown parameter once', '?who=1&who=2', 'UNKNOWN_QUERY_PARAMETER who'],
  [
    'counts lengths in code points',
    `?reference_id=${long(1_025)}&cursor=${'c'.repeat(1_025)}`,
    ...['VALUE_TOO_LONG cursor', 'VALUE_TOO_LONG reference_id'],
  ],
  [
    'refuses a bad character before it looks at the length',
    `?reference_id=%00${'r'.repeat(2_000)}`,
    'INVALID_CHARACTER reference_id',
  ],
  ['parameters are case-sensitive', '?Limit=1', 'UNKNOWN_QUERY_PARAMETER Limit'],
  [
    'a parameter of the other listing is unknown here',
    '?customer_id=alice',
    'UNKNOWN_QUERY_PARAMETER customer_id',
  ],
  [
    'cuts an unknown name at 64 characters',
    `?${'n'.repeat(70)}=1`,
    `UNKNOWN_QUERY_PARAMETER ${'n'.repeat(64)}`,
  ],
]);

test('a reference_id of 1,024 emoji fits', async (t) => {
  const { brands } = await startTestService(t);
  assert.equal((await brands(`?reference_id=${long(1_024)}`, { key: keys.acme })).status, 200);
});

test('refuses control characters, broken percent-encoding and broken UTF-8 in a value', async (t) => {
  const { brands } = await startTestService(t);
  for (const value of '%00 %1F %7F %0A a% a%2 %zz %C3 %C3%28 %ED%A0%80 %F5%80%80%80'.split(' ')) {
    const answer = await brands(`?reference_id=${value}`, { key: keys.acme });
    assertRefused(answer, 400, ['INVALID_CHARACTER', 'reference_id']);
  }
});

test('suggests the nearest parameter if its name is close', async (t) => {
  const { brands } = await startTestService(t);
  const [detail] = detailsOf(await brands('?refrence_id=1', { key: keys.acme }));
  assert.equal(detail, 'Remove the unknown parameter refrence_id, or rename it to reference_id.');
  for (const name of ['customer_id', 'customer']) {
    const [other] = detailsOf(await brands(`?${name}=1`, { key: keys.acme }));
    assert.equal(other, `Remove the unknown parameter ${name}.`);
  }
});

test('an answer has at most 20 errors, those of known parameters first', async (t) => {
  const { brands } = await startTestService(t);
  const unknown = Array.from({ length: 2_500 }, (_, index) => `x${index}`);
  const answer = await brands(`?limit=0&${unknown.join('&')}`, { key: keys.acme });
  assert.deepEqual(
    errorsOf(answer).map(({ field }) => field),
    ['limit', ...unknown.slice(0, 19)],
  );
});

test('reads a parameter after any number of empty ones', async (t) => {
  const { brands } = await startTestService(t);
  const { text } = await brands(`?${'&'.repeat(10_000)}limit=1`, { key: keys.acme });
  assert.equal(JSON.parse(text).brands.length, 1);
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
