import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { until } from '../../../testkit/fixtures/until.ts';
import { rejectionOf } from './rejection.ts';

export const reason = new Error('The user went away.');

/** Aborts a call once it has got somewhere, and sees that it ends at once, by the reason. */
export async function endsAtOnce(
  call: (signal: AbortSignal) => PromiseLike<unknown>,
  isThere: () => boolean,
): Promise<void> {
  const controller = new AbortController();
  const rejection = rejectionOf(call(controller.signal));
  await until(5_000, isThere);
  const startedMs = performance.now();
  controller.abort(reason);
  assert.equal(await rejection, reason);
  assert.ok(performance.now() - startedMs < 3_000);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
}
