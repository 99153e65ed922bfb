import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { tracingBounds } from '../../src/bounds/tracing.ts';
import { createDelivery } from '../../src/tracing/delivery.ts';

const span = { spanContext: () => ({ traceFlags: 1 }), resource: {} } as ReadableSpan;

test('keeps so many while none are taken, and tells of what is lost once a minute', async () => {
  const refuse: (() => void)[] = [];
  let sent = 0;
  const exporter: SpanExporter = {
    export: (spans, done) => {
      sent += spans.length;
      // What the collector says may hold anything: its status alone is told.
      refuse.push(() => done({ code: 1, error: Object.assign(new Error('secret'), { code: 401 }) }));
    },
    shutdown: async () => {},
  };
  const clock = { ms: 0 };
  const { log, logs } = watchedLog();
  const delivery = createDelivery(exporter, log, () => clock.ms);
  const told = () =>
    logs()
      .trim()
      .split('\n')
      .map((line) => [JSON.parse(line).reason, JSON.parse(line).spans]);

  const count = tracingBounds.tracesBatch + tracingBounds.tracesWaiting + 10;
  for (let ended = 0; ended < count; ended += 1) delivery.onEnd(span);
  // One batch is on its way, the others wait for it; each of the ten is lost, and the first is told of.
  assert.equal(sent, tracingBounds.tracesBatch);
  assert.deepEqual(told(), [['too many are waiting', 1]]);
  clock.ms = tracingBounds.tracesWarnMs;
  delivery.onEnd(span);
  assert.deepEqual(told().slice(1), [['too many are waiting', 10]]);

  refuse.shift()!();
  clock.ms *= 2;
  const flushed = delivery.forceFlush();
  assert.equal(sent, tracingBounds.tracesBatch + tracingBounds.tracesWaiting);
  for (const answer of refuse) answer();
  await assert.rejects(flushed);
  assert.deepEqual(told().slice(2), [[401, 2 * tracingBounds.tracesBatch]]);
  assert.doesNotMatch(logs(), /secret/);
  await delivery.shutdown();
});

test('gives up on an answer that does not come in time, tells of it, and goes on', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const answers: ((result: { code: number }) => void)[] = [];
  const exporter: SpanExporter = {
    export: (_spans, done) => void answers.push(done),
    shutdown: async () => {},
  };
  const { log, logs } = watchedLog();
  const delivery = createDelivery(exporter, log, () => 0);
  delivery.onEnd(span);
  t.mock.timers.tick(tracingBounds.tracesDelayMs);
  t.mock.timers.tick(tracingBounds.tracesAnswerMs - 1);
  assert.equal(logs(), '');
  t.mock.timers.tick(1);
  assert.deepEqual([JSON.parse(logs()).reason, JSON.parse(logs()).spans], ['the answer takes too long', 1]);
  // Too late to matter.
  answers[0]!({ code: 0 });
  assert.equal(logs().split('\n').length, 2);
});
