/** Audit entries about batches: the first ones of an hour, and the counts at its end. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Author } from '../../../store/src/port.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { BatchAudit } from '../../src/admin/batch-audit.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const by = (name?: string): Author => ({
  actor: 'admin-key:K',
  action: 'batch brands',
  reason: undefined,
  details: name === undefined ? {} : { on_behalf_of: name },
});

/** Batches of one key, on a clock that a test moves. `lock` makes the next attempts to write fail. */
function scene(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let sinceStartMs = 0;
  let clockMs = 100 * hourMs;
  t.mock.method(performance, 'now', () => sinceStartMs);
  t.mock.method(Date, 'now', () => clockMs + sinceStartMs);
  const added: [Author, Record<string, number>][] = [];
  let locked = 0;
  const addAudit = async (author: Author, _target: string, details: Record<string, number>) => {
    if (locked > 0) {
      locked -= 1;
      throw new Error('database is locked');
    }
    added.push([author, details]);
  };
  const { log, lines } = watchedLog();
  const audit = new BatchAudit({ addAudit } as never, log);
  t.after(() => audit.close());
  /** A batch that is under way. The function that is returned ends it. */
  const begin = (name?: string, written = 1) => {
    const begun = audit.begin(by(name), 'brands');
    const counts = { written, unchanged: 0, stale: 0, deleted: 0, rejected: 0 };
    return () => {
      audit.count(by(name), 'brands', counts, begun);
      return begun?.details;
    };
  };
  return {
    added,
    audit,
    begin,
    lines,
    /** Sends a batch. Returns the details of its own entry, if it gets one. */
    send: (name?: string, written = 1) => begin(name, written)(),
    lock: (attempts: number) => {
      locked = attempts;
    },
    /** Time passes, and what the timers started is done. */
    pass: async (ms: number) => {
      for (let leftMs = ms; leftMs > 0; leftMs -= minuteMs) {
        const stepMs = Math.min(leftMs, minuteMs);
        sinceStartMs += stepMs;
        t.mock.timers.tick(stepMs);
        await new Promise(setImmediate);
      }
    },
    setClock: (byMs: number) => {
      clockMs += byMs;
    },
    countsOf: () => added.map(([, { batches, written }]) => [batches, written]),
  };
}

test('the counts of an hour are written at its end, and every name once an hour', async (t) => {
  const { send, pass, added } = scene(t);
  assert.deepEqual([send(undefined, 0), send(), send()], [{}, {}, undefined]);
  assert.deepEqual(
    [send('ann'), send('bob'), send('ann')],
    [{ on_behalf_of: 'ann' }, { on_behalf_of: 'bob' }, undefined],
  );
  await pass(hourMs - 1);
  assert.equal(added.length, 0);
  await pass(minuteMs);
  const [[author, details] = []] = added;
  assert.deepEqual([added.length, author], [1, by()]);
  const { batches, written, duration_ms } = details!;
  assert.deepEqual([batches, written], [6, 5]);
  assert.ok(duration_ms! >= hourMs);
  assert.deepEqual(send('ann'), { on_behalf_of: 'ann' }, 'the next hour begins');
});

test('an hour ends after an hour, also if the clock is set back or forward', async (t) => {
  for (const shiftMs of [-5 * hourMs, 5 * hourMs]) {
    await t.test(`${shiftMs} ms`, async (t) => {
      const { send, pass, setClock, countsOf } = scene(t);
      send();
      send();
      setClock(shiftMs);
      await pass(hourMs / 2);
      assert.deepEqual(countsOf(), []);
      await pass(hourMs / 2 + minuteMs);
      assert.deepEqual(countsOf(), [[2, 2]]);
      assert.deepEqual(send(), {}, 'the next hour begins with an entry');
    });
  }
});

test('counts that cannot be written are written later, once; the next hour begins meanwhile', async (t) => {
  const { send, pass, lock, audit, countsOf, lines } = scene(t);
  send();
  send();
  lock(2);
  await pass(hourMs);
  assert.deepEqual(send(), {}, 'the next hour begins with an entry');
  await pass(minuteMs);
  assert.deepEqual(countsOf(), []);
  await pass(minuteMs);
  assert.deepEqual(countsOf(), [[2, 2]]);
  send();
  lock(1);
  await pass(hourMs - 2 * minuteMs);
  await audit.close();
  assert.deepEqual(countsOf().flat(), [2, 2, 2, 2]);
  assert.equal(lines().filter(({ written }) => written === 2).length, 3, 'each attempt is logged');
});

test('an entry that is being written when the service stops is written once', async (t) => {
  const { send, pass, audit, countsOf } = scene(t);
  send();
  send();
  await pass(hourMs - minuteMs);
  const passed = pass(minuteMs);
  await audit.close();
  await passed;
  assert.deepEqual(countsOf(), [[2, 2]]);
});

test('a batch that ends in the next hour is counted, and replaces no entry of a first batch', async (t) => {
  for (const others of [0, 1]) {
    await t.test(`${others} other batches in its hour`, async (t) => {
      const { begin, send, pass, audit, countsOf } = scene(t);
      send();
      const end = begin();
      await pass(hourMs + minuteMs);
      assert.equal(end(), undefined);
      if (others > 0) assert.deepEqual(send(), {}, 'the first batch that begins in the hour has an entry');
      await audit.close();
      assert.deepEqual(countsOf(), [[1 + others, 1 + others]]);
    });
  }
});
