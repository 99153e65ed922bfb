import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { apiKeyOf, environmentOfAdminKey, environmentOfKey, newAdminKey, newApiKey } from '../../src/auth.ts';

test('a new key is its prefix, 43 base62 characters, and 6 of checksum over both', () => {
  for (let made = 0; made < 200; made += 1) {
    const key = newApiKey(made % 2 === 0 ? 'production' : 'sandbox');
    assert.match(key, made % 2 === 0 ? /^pn_live_[0-9A-Za-z]{49}$/ : /^pn_test_[0-9A-Za-z]{49}$/);
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const checksum = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
    assert.equal(checksum, crc32(key.slice(0, -6)));
  }
});

test('keys differ, and use all of their 256 bits', () => {
  const keys = new Set(Array.from({ length: 500 }, () => newApiKey('sandbox')));
  assert.equal(keys.size, 500);
  for (let position = 9; position < 51; position += 1) {
    const characters = new Set([...keys].map((key) => key[position]));
    assert.ok(characters.size > 50, `character ${position} hardly varies`);
  }
});

test('the checksum is zero-padded', () => {
  const padded = Array.from({ length: 500 }, (_, n) => apiKeyOf('sandbox', String(n).padStart(43, '0')));
  const leading = padded.find((key) => key.at(-6) === '0');
  assert.ok(leading !== undefined && leading.length === 57);
  assert.equal(environmentOfKey(leading), 'sandbox');
});

test('the environment is read from a key; with any character changed it is not a key', () => {
  const key = newApiKey('production');
  assert.equal(environmentOfKey(key), 'production');
  for (let position = 0; position < key.length; position += 1) {
    const other = key[position] === 'x' ? 'y' : 'x';
    assert.equal(environmentOfKey(key.slice(0, position) + other + key.slice(position + 1)), undefined);
  }
  assert.equal(environmentOfKey(key.replace('pn_live_', 'pn_test_')), undefined);
  assert.equal(environmentOfKey(`${key}\n`), undefined);
});

test('an administrative key has the same form, and neither kind is taken for the other', () => {
  for (const [environment, form] of [
    ['production', /^pna_live_[0-9A-Za-z]{49}$/],
    ['sandbox', /^pna_test_[0-9A-Za-z]{49}$/],
  ] as const) {
    const [admin, api] = [newAdminKey(environment), newApiKey(environment)];
    assert.match(admin, form);
    assert.deepEqual([environmentOfAdminKey(admin), environmentOfKey(admin)], [environment, undefined]);
    assert.equal(environmentOfAdminKey(api), undefined);
    assert.equal(environmentOfAdminKey(admin.replace('pna_', 'pn_')), undefined);
  }
});

test('the patterns of keys.md find every key, and nothing that is shorter or longer', () => {
  const page = readFileSync(new URL('../../../../docs/how-to/partners/keys.md', import.meta.url), 'utf8');
  const [, ofGitleaks = ''] = /^regex = '''(.*)'''$/m.exec(page) ?? [];
  const [, ofGitHub = ''] = /^- Secret format: `(.*)`$/m.exec(page) ?? [];
  // GitHub adds this, unless a pattern says otherwise.
  const patterns = [ofGitleaks, `(?<![0-9A-Za-z])${ofGitHub}(?![0-9A-Za-z])`];
  for (const pattern of patterns) {
    for (const environment of ['production', 'sandbox'] as const) {
      const key = newApiKey(environment);
      assert.equal(new RegExp(pattern).exec(`key: "${key}",`)?.[0], key);
      for (const other of [key.slice(0, -1), `${key}x`]) assert.doesNotMatch(other, new RegExp(pattern));
    }
  }
});
