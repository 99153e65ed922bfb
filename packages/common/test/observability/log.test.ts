import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newAdminKey } from '../../../service/src/auth.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';

function logged(fault: unknown): string {
  const { log, logs } = watchedLog();
  log.error({ err: fault }, 'failed');
  return logs();
}

test('the log has type, message, code and stack of an error, and no field that a driver added', () => {
  class DriverError extends Error {
    readonly code = '23505';
    readonly detail = 'Key (customer_id)=(alice) already exists.';
    readonly where = 'COPY balances, line 1: "alice"';
    readonly query = 'select alice';
    readonly parameters = ['alice'];
  }
  const { err } = JSON.parse(logged(new DriverError('It is taken.', { cause: new DriverError('Inside.') })));
  const { stack, cause, ...rest } = err;
  assert.deepEqual(rest, { type: 'DriverError', message: 'It is taken.', code: '23505' });
  assert.match(stack, /^Error: It is taken\.\n\s+at .*log\.test\.ts/);
  assert.equal(cause.message, 'Inside.');
  assert.ok(!JSON.stringify(err).includes('alice'));
});

test('an error that is its own cause is logged, and a code that is an object is not', () => {
  const fault = Object.assign(new Error('Round.'), { code: { customer_id: 'alice' } });
  fault.cause = fault;
  const { err } = JSON.parse(logged(fault));
  assert.deepEqual([err.message, err.code, err.cause.message], ['Round.', undefined, 'Round.']);
  assert.equal(logged(fault).split('"Round."').length, 7);
  assert.equal(JSON.parse(logged(Object.assign(new Error(), { code: 23 }))).err.code, 23);
});

test('user and password of a URL are masked in the message of an error, and its host is not', () => {
  const messageOf = (text: string) => JSON.parse(logged(new Error(text))).err.message;
  assert.equal(
    messageOf('no way to postgres://network:p@ss:w0rd@db:5432/x, sorry'),
    'no way to postgres://…@db:5432/x, sorry',
  );
  assert.equal(messageOf('redis://:hunter22@cache and http://db/a@b'), 'redis://…@cache and http://db/a@b');
});

test('a key in an error message is masked, and a value thrown in place of an error is not logged', () => {
  const text = logged(new Error(`cannot read ${keys.acme}, of all things`));
  assert.match(JSON.parse(text).err.message, /^cannot read pn_test_…, of all things$/);
  assert.ok(!text.includes(keys.acme.slice(8)));
  assert.ok(!logged(keys.acme).includes(keys.acme.slice(8)));
  const { err } = JSON.parse(logged(new Error(`no ${newAdminKey('production')}`)));
  assert.equal(err.message, 'no pna_live_…');
});
