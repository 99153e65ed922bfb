/** The search of all test logs finds secrets. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { createWatch } from './logs.ts';

test('finds and masks a secret in lines that were logged before or after it was registered', () => {
  const watch = createWatch();
  watch.logged('{"level":30,"msg":"before"}\n{"level":50,"msg":"asked with MDEyMzQ1"}\n');
  watch.keep('cursor', 'MDEyMzQ1');
  watch.keep('customer', 'alice');
  watch.logged('{"level":30,"customer":"alice"}\n');
  assert.deepEqual(watch.leaks(), [
    'a cursor is in the log: {"level":50,"msg":"asked with <cursor>"}',
    'a customer is in the log: {"level":30,"customer":"<customer>"}',
  ]);
});

test('a command may print a customer, but not a password', () => {
  const watch = createWatch();
  watch.keep('customer', 'alice');
  watch.keep('password', 'network:hunter22');
  watch.remarked('alice has no balances\n');
  assert.deepEqual(watch.leaks(), []);
  watch.remarked('cannot connect to postgres://network:hunter22@db\n');
  assert.equal(watch.leaks().length, 1);
});

/** A test file whose tests pass and whose service logs what a client sent. */
const leaking = `
  import { spawn } from 'node:child_process';
  import { once } from 'node:events';
  import { test } from 'node:test';
  import { createCaller } from '${new URL('../fixtures/http.ts', import.meta.url)}';
  import { keepExchange, watchCommand, watchedLog } from '${new URL('logs.ts', import.meta.url)}';
  test('passes', async () => {
    const line = '{"level":30,"key":"pn_live_' + 'x'.repeat(49) + '"}';
    const print = (text) => 'console.log(' + JSON.stringify(text) + ');';
    const words = ['-e', print(line.slice(18)) + print(line)];
    const child = spawn(process.execPath, words);
    watchCommand(child, words);
    await once(child, 'close');
    keepExchange('/network/v1/brands?reference_id=shop-17', '{"brands":[],"cursor":"AAECAwQF"}');
    for (const key of ['pn_test_' + 'y'.repeat(49), 'pna_live_' + 'z'.repeat(49)])
      await createCaller(1).brands('', { key }).catch(() => watchedLog().log.info({ key }));
    watchedLog().log.info({ url: '/network/v1/brands?reference_id=shop-17' }, 'request');
  });`;

test('a test file with a secret in its log fails at its end, though its tests pass', () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const words = ['--input-type=module', '--eval', leaking];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
  assert.match(stdout, /pass 1\b/);
  assert.equal(status, 1);
  assert.match(stderr, /a query is in the log: .*"url":"\/network\/v1\/brands\?<query>"/);
  assert.match(stderr, /a key is in the log: .*"pn_live_<key>x/);
  assert.match(stderr, /a key is in the log: .*"pn_test_<key>y/);
  assert.match(stderr, /a key is in the log: .*"pna_live_<key>z/);
  assert.doesNotMatch(stderr, /shop-17/);
});
