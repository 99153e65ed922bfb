import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testkit/fixtures/until.ts';
import { endsAtOnce } from './support/abort.ts';
import { startFaultyNetwork } from './support/network.ts';
import { rejectionOf } from './support/rejection.ts';

test('an abort ends a call at once in the middle of an answer', async (t) => {
  let isAnswered = false;
  const onResponse = () => {
    isAnswered = true;
  };
  const { network, way } = await startFaultyNetwork(t, ['silence in the body'], { onResponse });
  await endsAtOnce(
    (signal) => network.brands.list({}, { signal }),
    () => isAnswered,
  );
  await until(5_000, () => way.open() === 0);
});

test('an abort ends a call at once while no answer comes, and closes the connection', async (t) => {
  const { network, way } = await startFaultyNetwork(t, ['silence']);
  const controller = new AbortController();
  const rejection = rejectionOf(network.brands.list({}, { signal: controller.signal }));
  await until(5_000, () => way.targets.length === 1);
  controller.abort();
  const error = await rejection;
  assert.ok(error instanceof DOMException && error.name === 'AbortError', "the platform's own reason");
  await until(5_000, () => way.open() === 0);
});

test('a time-out closes the connection', async (t) => {
  const { network, way } = await startFaultyNetwork(t, ['silence']);
  await rejectionOf(network.brands.list({}, { timeoutMs: 20, maxRetries: 0 }));
  await until(5_000, () => way.open() === 0);
});
