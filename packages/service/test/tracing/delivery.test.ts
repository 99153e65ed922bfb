import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { tracingBounds } from '../../../common/src/bounds/service.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { createDelivery } from '../../src/tracing/open-telemetry.ts';

const span = { spanContext: () => ({ traceFlags: 1 }), resource: {} } as ReadableSpan;

test('keeps a bounded number of spans for a dead collector, and logs lost spans once a minute', async () => {
  const refuse: (() => void)[] = [];
  let sent = 0;
  const exporter: SpanExporter = {
    export: (spans, done) => {
      sent += spans.length;
      // Only the status is logged: the collector's message may hold anything.
      refuse.push(() => done({ code: 1, error: Object.assign(new Error('secret'), { code: 401 }) }));
    },
    shutdown: async () => {},
  };
  const clock = { ms: 0 };
  const { log, logs, lines } = watchedLog();
  const delivery = createDelivery(exporter, log, () => clock.ms);
  const logged = () => lines().map(({ reason, spans }) => [reason, spans]);

  const count = tracingBounds.batch + tracingBounds.waiting + 10;
  for (let ended = 0; ended < count; ended += 1) delivery.onEnd(span);
  // One batch is on its way and the queue is full: ten spans are lost, and the first loss is logged.
  assert.equal(sent, tracingBounds.batch);
  assert.deepEqual(logged(), [['too many spans are waiting', 1]]);
  clock.ms = tracingBounds.warnMs;
  delivery.onEnd(span);
  assert.deepEqual(logged().slice(1), [['too many spans are waiting', 10]]);

  refuse.shift()!();
  await turn();
  clock.ms *= 2;
  const flushed = delivery.forceFlush();
  assert.equal(sent, tracingBounds.batch + tracingBounds.waiting);
  for (const answer of refuse) answer();
  await assert.rejects(flushed);
  assert.deepEqual(logged().slice(2), [[401, 2 * tracingBounds.batch]]);
  assert.doesNotMatch(logs(), /secret/);
  await delivery.shutdown();
});

test('gives up on an answer that takes too long, logs the loss, and goes on', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const answers: ((result: { code: number }) => void)[] = [];
  const exporter: SpanExporter = {
    export: (_spans, done) => void answers.push(done),
    shutdown: async () => {},
  };
  const { log, logs } = watchedLog();
  const delivery = createDelivery(exporter, log, () => 0);
  delivery.onEnd(span);
  t.mock.timers.tick(tracingBounds.delayMs);
  t.mock.timers.tick(tracingBounds.answerMs - 1);
  assert.equal(logs(), '');
  t.mock.timers.tick(1);
  await turn();
  assert.deepEqual([JSON.parse(logs()).reason, JSON.parse(logs()).spans], ['the response takes too long', 1]);
  answers[0]!({ code: 0 });
  await turn();
  assert.equal(logs().split('\n').length, 2);
});
