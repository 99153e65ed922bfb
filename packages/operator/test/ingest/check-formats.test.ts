import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brandSchema } from '@partner-network/contract/records';
import fc from 'fast-check';
import { createChecker } from '../../src/ingest/check.ts';
import {
  assertRefused,
  assertTaken,
  badTimes,
  badUrls,
  checkLine,
  goodTimes,
  goodUrls,
  lineWith,
  times,
} from './check-line.ts';

test('accepts a color only as # and six hex digits', async () => {
  for (const color of ['#000000', '#1A2b3C', '#ffffff']) {
    await assertTaken('brands', 'color', `"${color}"`, color);
  }
  const bad = [' #123456', '#123456 ', ...'#12345 #1234567 123456 #GGGGGG #12345\uff16 red #fff'.split(' ')];
  for (const color of bad) await assertRefused('brands', 'color', `"${color}"`, 'INVALID_COLOR');
});

test('accepts a time in UTC, and cuts its fraction to milliseconds', async () => {
  for (const [kind, field] of times) {
    for (const [time, stored] of goodTimes) await assertTaken(kind, field, `"${time}"`, stored);
  }
});

for (const [what, list] of badTimes) {
  test(`refuses a time with ${what}`, async () => {
    for (const [kind, field] of times) {
      for (const time of list) await assertRefused(kind, field, `"${time}"`, 'INVALID_TIME');
    }
  });
}

test('accepts an http or https address of 8 to 8,000 characters unchanged', async () => {
  for (const url of goodUrls) await assertTaken('brands', 'profile_image_url', JSON.stringify(url), url);
  for (const character of ['a', '🦊']) {
    const long = `"https://x/${character.repeat(7_991)}"`;
    await assertRefused('brands', 'profile_image_url', long, 'VALUE_TOO_LONG');
  }
});

for (const [what, list] of badUrls) {
  test(`refuses an image address with ${what}`, async () => {
    for (const url of list) {
      await assertRefused('brands', 'profile_image_url', JSON.stringify(url), 'INVALID_URL');
    }
  });
}

function keysOf(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'value']));
}

test('accepts metadata of 0 to 50 keys and empty texts, and refuses 51 keys', async () => {
  for (const metadata of [{}, { '': '' }, { tier: 'gold' }, { __proto__key: '🦊' }]) {
    await assertTaken('brands', 'metadata', JSON.stringify(metadata), JSON.stringify(metadata));
  }
  const fifty = await checkLine('brands', lineWith('brands', 'metadata', JSON.stringify(keysOf(50))));
  assert.deepEqual(fifty.rejections, []);
  assert.deepEqual(JSON.parse(String(fifty.fields.metadata)), keysOf(50));
  await assertRefused('brands', 'metadata', JSON.stringify(keysOf(51)), 'TOO_MANY_KEYS');
});

test('accepts metadata of 32,768 bytes in UTF-8, and refuses one more', async () => {
  for (const [key, text] of [
    ['k', 'x'],
    ['é', 'ü'],
    ['🦊', '🦊'],
  ] as const) {
    const room = 32_768 - Buffer.byteLength(`${key}other"`);
    const fits = text.repeat(Math.floor(room / Buffer.byteLength(text)));
    const metadata = { [key]: fits.padEnd(fits.length + (room % Buffer.byteLength(text))), other: '"' };
    const { rejections } = await checkLine(
      'brands',
      lineWith('brands', 'metadata', JSON.stringify(metadata)),
    );
    assert.deepEqual(rejections, []);
    const larger = JSON.stringify({ ...metadata, other: '""' });
    await assertRefused('brands', 'metadata', larger, 'VALUE_TOO_LONG');
  }
  const { rejections } = createChecker(brandSchema)({
    metadata: { toString: 'x'.repeat(40_000), valueOf: {} },
  });
  const details = rejections.filter(({ field }) => field === 'metadata').map(({ detail }) => detail);
  assert.deepEqual(details, ['Shorten this value to at most 32768 bytes of keys and values in UTF-8.']);
});

test('refuses metadata that is not an object', async () => {
  for (const json of ['5', '1.5', '"{}"', 'true', '[]', '[["a","b"]]']) {
    await assertRefused('brands', 'metadata', json, 'EXPECTED_OBJECT');
  }
});

const badMetadata = [
  ['a nested object', '{"a":{"b":"c"}}', 'metadata.a', 'EXPECTED_STRING'],
  ['a list', '{"a":["b"]}', 'metadata.a', 'EXPECTED_STRING'],
  ['a number', '{"a":5}', 'metadata.a', 'EXPECTED_STRING'],
  ['a number that is not exact', '{"a":1.5}', 'metadata.a', 'EXPECTED_STRING'],
  ['true', '{"a":true}', 'metadata.a', 'EXPECTED_STRING'],
  ['null', '{"a":null}', 'metadata.a', 'EXPECTED_STRING'],
  ['a number under __proto__', '{"__proto__":5}', 'metadata.__proto__', 'EXPECTED_STRING'],
  ['a control character in a value', '{"a":"\\u0000"}', 'metadata.a', 'INVALID_CHARACTER'],
  ['an unpaired surrogate in a value', '{"a":"\\ud83e"}', 'metadata.a', 'INVALID_CHARACTER'],
  ['a control character in a key', '{"a\\u001f":"b"}', 'metadata.a\ufffd', 'INVALID_CHARACTER'],
  ['an unpaired surrogate in a key', '{"a\\udd8a":"b"}', 'metadata.a\ufffd', 'INVALID_CHARACTER'],
] as const;

for (const [what, json, field, code] of badMetadata) {
  test(`refuses ${what} in metadata`, async () => {
    const { rejections } = await checkLine('brands', lineWith('brands', 'metadata', json));
    assert.deepEqual(rejections, [[field, code]]);
  });
}

test('stores equal metadata as equal text, whatever the order of its keys', async () => {
  const keys = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'B', '1', '0', '_', 'é', '🦊') }));
  await fc.assert(
    fc.asyncProperty(keys, fc.infiniteStream(fc.nat()), async (names, chance) => {
      const weights = new Map(names.map((name) => [name, chance.next().value]));
      const shuffled = names.toSorted((left, right) => weights.get(left)! - weights.get(right)!);
      const texts = [names, shuffled].map(async (order) => {
        const json = `{${order.map((name) => `${JSON.stringify(name)}:"v"`).join(',')}}`;
        return (await checkLine('brands', lineWith('brands', 'metadata', json))).fields.metadata;
      });
      const [first, second] = await Promise.all(texts);
      assert.equal(first, second);
      assert.deepEqual(JSON.parse(String(first)), Object.fromEntries(names.map((name) => [name, 'v'])));
    }),
  );
});
