import { observabilityBounds } from '@partner-network/common/bounds/common';
import { type MetricRead, metric, readMetrics } from '@partner-network/common/observability/metric';
import { within } from '@partner-network/common/timeout';
import { toTime } from '@partner-network/common/times';
import type { KeyOwner, Store } from '@partner-network/store/port';

/** Reads the metric of the key that expires first: absent if no key expires, or if that is not known. */
export function createKeyExpiry(
  { firstExpiry }: Pick<Store, 'firstExpiry'>,
  of: KeyOwner,
  nowMs = Date.now,
): () => Promise<readonly MetricRead[]> {
  let expiresMs: number | undefined;
  let readMs = Number.NEGATIVE_INFINITY;
  const secondsLeft = () => ((expiresMs ?? 0) - nowMs()) / 1_000;

  return async () => {
    const isOld = performance.now() - readMs >= observabilityBounds.keyExpiryMs;
    if (isOld || (expiresMs !== undefined && secondsLeft() <= 0)) {
      // Without an answer, the last one counts: an outage of the database is reported elsewhere.
      const answer = within(observabilityBounds.keyExpiryAnswerMs, firstExpiry(of, toTime(nowMs())), Error);
      await answer.then(
        (found) => {
          expiresMs = found === undefined ? undefined : Date.parse(found);
          readMs = performance.now();
        },
        () => {},
      );
    }
    if (secondsLeft() <= 0) return [];
    return readMetrics([metric('partner_network_key_expiry_seconds', secondsLeft)]);
  };
}
