import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { tracingBounds } from '@partner-network/common/bounds/service';
import { createFailureLog } from '@partner-network/common/observability/log';
import { within } from '@partner-network/common/timeout';
import type { Logger } from 'pino';

/** OpenTelemetry's batch processor, plus a log line, at most once a minute, when spans are lost. */
export function createDelivery(
  exporter: SpanExporter,
  log: Logger,
  nowMs: () => number = () => performance.now(),
): SpanProcessor {
  let waiting = 0;
  let lost = 0;
  const losses = createFailureLog({ remindMs: tracingBounds.warnMs, nowMs });

  function lose(spans: number, reason: string | number): void {
    lost += spans;
    losses.failed(() => {
      log.warn({ reason, spans: lost }, 'traces are lost: the collector does not accept them');
      lost = 0;
    });
  }

  type Result = Parameters<Parameters<SpanExporter['export']>[1]>[0];

  /** Sends a batch. The exporter times out if the collector is silent, not if its answer never ends. */
  async function send(spans: ReadableSpan[]): Promise<Result> {
    waiting -= spans.length;
    const answer = new Promise<Result>((resolve) => exporter.export(spans, resolve));
    const late = () => new Error('the response takes too long');
    const failed = (error: Error) => ({ code: 1, error });
    const result = await within(tracingBounds.answerMs, answer, late).catch(failed);
    if (result.error !== undefined) lose(spans.length, reasonOf(result.error));
    return result;
  }

  const batches = new BatchSpanProcessor({
    exporter: {
      export: (spans, done) => void send(spans).then(done),
      shutdown: () => exporter.shutdown(),
    },
    maxQueueSize: tracingBounds.waiting,
    maxExportBatchSize: tracingBounds.batch,
    scheduledDelayMillis: tracingBounds.delayMs,
    // Never reached: `send` gives up earlier, and logs it.
    exportTimeoutMillis: tracingBounds.closeMs,
  });

  return {
    onStart: () => {},
    onEnd: (span) => {
      // The batch processor would drop the span silently.
      if (waiting >= tracingBounds.waiting) return lose(1, 'too many spans are waiting');
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}

/** The error's code if it has one: a message may repeat a URL or the collector's answer. */
function reasonOf({ code, message }: Error & { code?: unknown }): string | number {
  return typeof code === 'string' || typeof code === 'number' ? code : message;
}
