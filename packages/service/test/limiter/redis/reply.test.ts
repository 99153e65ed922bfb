import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limiterBounds } from '../../../../common/src/bounds/service.ts';
import { inTime, kindOf } from '../../../src/limiter/redis/client.ts';

/** Lets promises and immediates run. Timers stand still. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
}

test('a reply in time counts; an error and a late reply do not, and the late one is reported', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const late: string[] = [];
  const results: [string, unknown][] = [];
  const send = (name: string, reply: Promise<number>) =>
    void inTime(reply, () => late.push(name)).then((result) => results.push([name, result]));
  const [slow, slower] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  send('at once', Promise.resolve(1));
  send('error', Promise.reject(new Error('no')));
  send('slower', slower.promise);
  send('slow', slow.promise);
  await settle();
  const known = [
    ['at once', 1],
    ['error', undefined],
  ];
  assert.deepEqual(results, known);
  t.mock.timers.tick(limiterBounds.redisBudgetMs - 1);
  await settle();
  slow.resolve(2);
  await settle();
  assert.deepEqual([results, late], [[...known, ['slow', 2]], []]);
  t.mock.timers.tick(1);
  await settle();
  slower.resolve(3);
  t.mock.timers.tick(100);
  await settle();
  assert.deepEqual([results, late], [[...known, ['slow', 2], ['slower', undefined]], ['slower']]);
});

test('a reply that is already in the socket when its time is over is not late', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let isLate = false;
  const reply = Promise.withResolvers<number>();
  const taken = inTime(reply.promise, () => (isLate = true));
  t.mock.timers.tick(limiterBounds.redisBudgetMs);
  reply.resolve(2);
  await settle();
  assert.deepEqual([await taken, isLate], [2, false]);
});

test('the kind of an error is its code or its first word in capitals, and nothing else of it', () => {
  const kinds: [unknown, string | undefined][] = [
    [Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    [new Error('WRONGPASS invalid username-password pair: secret'), 'WRONGPASS'],
    [new Error('OK'), 'OK'],
    [new Error('A word of one letter'), undefined],
    [new Error('MOVEDx'), undefined],
    [new Error('said NOAUTH'), undefined],
    [{}, undefined],
  ];
  for (const [error, kind] of kinds) assert.equal(kindOf(error), kind);
});
