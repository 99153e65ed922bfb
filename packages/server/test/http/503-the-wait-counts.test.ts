/** Alone in its file: a request of another test would set the timer before this test changes the clock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertRefused } from '../../../testkit/fixtures/http.ts';
import { startTestService } from '../../../testkit/fixtures/service.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { httpBounds } from '../../src/bounds/http.ts';
import { createOverload, type Overload } from '../../src/http/overload/overload.ts';

test('the wait for a turn counts as a part of the response time', async (t) => {
  let passedMs = 0;
  const nowMs = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => nowMs() + passedMs);
  const overload: Overload = {
    ...createOverload({ connections: 1 }, watchedLog().log),
    begin: (_response, work) => {
      passedMs += httpBounds.answerMs;
      void work();
    },
  };
  const service = await startTestService(t, {
    overload,
    reads: async ({ store }) => ({
      ...store,
      findKey: (digest) => wait(httpBounds.answerMs / 4).then(() => store.findKey(digest)),
    }),
  });
  assertRefused(await service.brands('', { key: keys.acme }), 503, 'SERVICE_UNAVAILABLE');
  const { duration_ms } = service.lines().at(-1);
  assert.ok(duration_ms >= httpBounds.answerMs, `${duration_ms} ms`);
  const duration = service.metrics.find(({ name }) => name.endsWith('request_duration_seconds'))!;
  const seconds = duration.read().find(({ labels, part }) => labels.outcome === 'failed' && part === 'sum');
  assert.ok(seconds!.value >= httpBounds.answerMs / 1_000, `${seconds!.value} s`);
});
