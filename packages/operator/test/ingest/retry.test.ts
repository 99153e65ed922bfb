import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ingestBounds } from '../../../common/src/bounds/operator.ts';
import { OperatorError } from '../../../common/src/errors.ts';
import { StoreLocked, StoreUnavailable } from '../../../store/src/port.ts';
import { createRetry } from '../../src/ingest/retry.ts';

const minute = 60_000;

/** A retry that is broken never ends, because the time of its tests does not pass by itself. */
const limit = { timeout: 10_000 };

/** A retry whose time passes only when the test says so, and the sentences that it reports. */
function openRetry(t: TestContext) {
  let nowMs = 0;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => nowMs);
  const stop = new AbortController();
  const reported: string[] = [];
  const retry = createRetry({ stop, report: (sentence) => reported.push(sentence) });
  const pass = async (ms: number) => {
    for (const end = nowMs + ms; nowMs < end; ) {
      nowMs += ingestBounds.followRetryMs;
      t.mock.timers.tick(ingestBounds.followRetryMs);
      await nextTurn();
    }
  };
  return { retry, stop, reported, pass };
}

test('retries for long; reports the loss, the return, and a reminder every 10 minutes', limit, async (t) => {
  const { retry, reported, pass } = openRetry(t);
  let isGone = true;
  const work = async () => (isGone ? Promise.reject(new StoreUnavailable('It is gone.')) : 'done');
  const working = retry(work);
  await pass(9 * minute);
  assert.deepEqual(reported, ['It is gone. Retrying until the database returns.']);
  await pass(12 * minute);
  isGone = false;
  await pass(minute);
  assert.equal(await working, 'done');
  assert.deepEqual(reported.slice(1), [
    'It is gone. This has lasted for 10 min. Retrying until the database returns.',
    'It is gone. This has lasted for 20 min. Retrying until the database returns.',
    'The database answers again, after 21 min. The import continues.',
  ]);
});

test('a frozen server is noticed after 30 s, and each attempt is abandoned', limit, async (t) => {
  const { retry, reported, pass } = openRetry(t);
  const attempts: AbortSignal[] = [];
  const working = retry((abandoned) => {
    attempts.push(abandoned);
    return attempts.length < 4 ? new Promise<string>(() => {}) : Promise.resolve('done');
  });
  await pass(2 * minute);
  assert.equal(await working, 'done');
  assert.deepEqual(
    attempts.map(({ aborted }) => aborted),
    [true, true, true, false],
  );
  const silence = 'The database does not answer, or another import locks it.';
  assert.deepEqual(reported, [
    `${silence} Retrying until the database returns.`,
    'The database answers again, after 62 s. The import continues.',
  ]);
});

test('work that succeeds does not end the outage of other work, which is reported once', limit, async (t) => {
  const { retry, reported, pass } = openRetry(t);
  let isLocked = true;
  const locked = async () => {
    if (isLocked) throw new StoreLocked('It is locked.');
  };
  const both = Promise.all([retry(locked), retry(() => locked())]);
  await pass(minute);
  await retry(async () => {});
  assert.deepEqual(reported, ['It is locked. Retrying until it is free.']);
  isLocked = false;
  await pass(1_000);
  await both;
  assert.deepEqual(reported.slice(1), ['The database answers again, after 60 s. The import continues.']);
});

for (const [what, fail] of [
  ['refuses connections', () => Promise.reject(new StoreUnavailable('Gone.'))],
  ['is frozen', () => new Promise<never>(() => {})],
] as const) {
  test(
    `5 s after a stop it gives up a database that ${what}, and tries other work once`,
    limit,
    async (t) => {
      const { retry, stop, reported, pass } = openRetry(t);
      const working = assert.rejects(retry(fail), StoreUnavailable);
      await pass(minute);
      stop.abort();
      assert.equal(reported.at(-1), 'Stopping. Retrying for up to 5 s.');
      await pass(5_500);
      await working;
      const last = assert.rejects(retry(fail), StoreUnavailable);
      await pass(500);
      await last;
      assert.equal(await retry(async () => 'done'), 'done');
    },
  );
}

test('an outage that begins after a stop is reported with the whole time', limit, async (t) => {
  const { retry, stop, reported, pass } = openRetry(t);
  stop.abort();
  const working = assert.rejects(retry(() => Promise.reject(new StoreUnavailable('Gone.'))));
  await pass(6_000);
  await working;
  assert.deepEqual(reported, ['Gone. Retrying for up to 5 s.']);
});

test('does not retry a wrong setting at the start, nor other errors ever', limit, async (t) => {
  const { retry, reported, pass } = openRetry(t);
  const denied = new OperatorError('The database denies access.');
  await assert.rejects(
    retry(() => Promise.reject(denied)),
    denied,
  );
  await retry(async () => {});
  await assert.rejects(
    retry(() => Promise.reject(new TypeError('a bug'))),
    TypeError,
  );
  assert.deepEqual(reported, []);
  // Lines may have been read by now, so the feed waits until the privilege is granted again.
  let isDenied = true;
  const working = retry(async () => (isDenied ? Promise.reject(denied) : undefined));
  await pass(minute);
  isDenied = false;
  await pass(1_000);
  await working;
  assert.equal(reported.length, 2);
});
