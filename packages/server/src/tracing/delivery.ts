import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { tracingBounds } from '../bounds/tracing.ts';

/** What a collector that is away or too slow costs: so much memory, and a line in the log once a minute. */
export function createDelivery(
  exporter: SpanExporter,
  log: Logger,
  nowMs: () => number = () => performance.now(),
): SpanProcessor {
  let waiting = 0;
  let lost = 0;
  let quietUntilMs = Number.NEGATIVE_INFINITY;

  function lose(count: number, reason: string | number): void {
    lost += count;
    if (nowMs() < quietUntilMs) return;
    quietUntilMs = nowMs() + tracingBounds.tracesWarnMs;
    log.warn({ reason, spans: lost }, 'traces are lost: the collector does not take them');
    lost = 0;
  }

  const batches = new BatchSpanProcessor({
    exporter: {
      export: (spans, done) => {
        waiting -= spans.length;
        let isOver = false;
        const finish: typeof done = (result) => {
          if (isOver) return;
          isOver = true;
          clearTimeout(deadline);
          if (result.error !== undefined) lose(spans.length, reasonOf(result.error));
          done(result);
        };
        const late = { code: 1, error: new Error('the answer takes too long') };
        const deadline = setTimeout(finish, tracingBounds.tracesAnswerMs, late);
        exporter.export(spans, finish);
      },
      shutdown: () => exporter.shutdown(),
    },
    maxQueueSize: tracingBounds.tracesWaiting,
    maxExportBatchSize: tracingBounds.tracesBatch,
    scheduledDelayMillis: tracingBounds.tracesDelayMs,
    // Longer than ours above, which tells what is lost.
    exportTimeoutMillis: tracingBounds.tracesCloseMs,
  });

  return {
    onStart: () => {},
    onEnd: (span: ReadableSpan) => {
      if (waiting >= tracingBounds.tracesWaiting) return lose(1, 'too many are waiting');
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}

/** Never more of an error than its code where it has one: the rest may repeat an address or an answer. */
function reasonOf(error: Error & { code?: unknown }): string | number {
  const { code, message } = error;
  return typeof code === 'string' || typeof code === 'number' ? code : message;
}
