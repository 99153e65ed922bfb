import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { bounds } from '../bounds.ts';

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
    quietUntilMs = nowMs() + bounds.tracesWarnMs;
    log.warn({ reason, spans: lost }, 'traces are lost: the collector does not take them');
    lost = 0;
  }

  const batches = new BatchSpanProcessor({
    exporter: {
      export: (spans, done) => {
        waiting -= spans.length;
        exporter.export(spans, (result) => {
          if (result.error !== undefined) lose(spans.length, reasonOf(result.error));
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
    },
    maxQueueSize: bounds.tracesWaiting,
    maxExportBatchSize: bounds.tracesBatch,
    scheduledDelayMillis: bounds.tracesDelayMs,
    exportTimeoutMillis: bounds.tracesAnswerMs,
  });

  return {
    onStart: () => {},
    onEnd: (span: ReadableSpan) => {
      if (waiting >= bounds.tracesWaiting) return lose(1, 'too many are waiting');
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
