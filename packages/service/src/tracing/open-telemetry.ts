/** Traces by OpenTelemetry. Loaded only if a collector is configured. */
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import {
  type Span as ApiSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { tracingBounds } from '@partner-network/common/bounds/service';
import { OperatorError } from '@partner-network/common/errors';
import { createFailureLog } from '@partner-network/common/observability/log';
import type { Attributes, Span } from '@partner-network/common/observability/span';
import { instanceName, ownVersion } from '@partner-network/common/process';
import { within } from '@partner-network/common/timeout';
import type { Environment } from '@partner-network/contract/environments';
import type { DatabaseAddress } from '@partner-network/store/address';
import type { Logger } from 'pino';

export type Tracing = ReturnType<typeof openTracing>;

/** Sends a share of the requests, 0 to 1, as traces to the collector at `url`. */
export function openTracing(
  { url, share }: { readonly url: string; readonly share: number },
  environment: Environment,
  engine: DatabaseAddress['engine'],
  log: Logger,
) {
  const agent = createCollectorAgent(url);
  const exporter = new OTLPTraceExporter({
    url,
    httpAgentOptions: () => agent,
    // Overrides OTEL_EXPORTER_OTLP_TIMEOUT, because the end of the process waits for the last answers.
    timeoutMillis: tracingBounds.answerMs,
    concurrencyLimit: tracingBounds.underWay,
  });
  const provider = new TracerProvider({
    resource: resourceOf(environment),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [createDelivery(exporter, log)],
  });
  const tracer = provider.getTracer('partner-network');
  const kinds = { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

  function spanOf(span: ApiSpan, now: () => number): Span {
    return {
      traceId: span.spanContext().traceId,
      note: (attributes) => span.setAttributes(attributes),
      begin: (name, kind, attributes) => {
        const options = { kind: kinds[kind], attributes, startTime: now() };
        return spanOf(tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, span)), now);
      },
      end: (fault) => {
        if (fault !== undefined) {
          span.setAttribute('error.type', fault);
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end(now());
      },
    };
  }

  return {
    /** OpenTelemetry's name of the database engine. */
    databaseSystem: engine === 'postgres' ? 'postgresql' : engine,
    /**
     * Whether the next request is traced. OpenTelemetry's own sampler takes 11 to 15 µs for a request that is
     * not traced, this less than 1.
     */
    isSampled: () => Math.random() < share,
    /** Begins the trace of a request. `caller` is the span of the client's own trace. */
    begin: (name: string, attributes: Attributes, caller: SpanContext | undefined) => {
      const links = caller === undefined ? [] : [{ context: { ...caller, isRemote: true } }];
      // OpenTelemetry's own start times are whole milliseconds, longer than most steps of a request.
      const offsetMs = Date.now() - performance.now();
      const now = () => offsetMs + performance.now();
      const options = { kind: SpanKind.SERVER, attributes, links, startTime: now() };
      return spanOf(tracer.startSpan(name, options, ROOT_CONTEXT), now);
    },
    /** Sends the remaining spans, for at most `closeMs`. */
    close: async () => {
      // Lost spans are logged by the delivery.
      await within(tracingBounds.closeMs, provider.shutdown(), Error).catch(() => {});
      agent.destroy();
    },
  };
}

/** Describes this process. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override it. */
function resourceOf(environment: Environment) {
  const ours = resourceFromAttributes({
    'service.name': 'partner-network',
    'service.version': ownVersion(),
    // Workers of an instance share its name, and each sends its own spans.
    'service.instance.id': `${instanceName()}-${process.pid}`,
    'deployment.environment.name': environment,
  });
  const detectors = [resourceAttributesEnvDetector, serviceNameEnvDetector];
  return defaultResource().merge(ours).merge(detectResources({ detectors }));
}

/**
 * The connections to the collector. The exporter's own agent has two gaps: it ignores a TLS file that cannot
 * be read, and it cannot be closed, so that an answer without end would keep the process alive.
 */
export function createCollectorAgent(url: string): Agent {
  if (url.startsWith('http:')) return new Agent({ keepAlive: true });
  const [ca, cert, key] = ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'].map(fileOf);
  return new TlsAgent({ keepAlive: true, ca, cert, key });
}

/** The file that OpenTelemetry's variable names, if it is set. */
function fileOf(name: string): Buffer | undefined {
  const variables = [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`];
  const variable = variables.find((candidate) => process.env[candidate]);
  if (variable === undefined) return undefined;
  try {
    return readFileSync(process.env[variable]!);
  } catch (error) {
    throw new OperatorError(`The file in ${variable} cannot be read: ${(error as Error).message}.`);
  }
}

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

  /** Sends a batch. The exporter times out if the collector is silent, not if its answer never ends. */
  const send: SpanExporter['export'] = (spans, done) => {
    waiting -= spans.length;
    const answer = new Promise<Parameters<typeof done>[0]>((resolve) => exporter.export(spans, resolve));
    const late = () => new Error('the response takes too long');
    void within(tracingBounds.answerMs, answer, late)
      .catch((error: Error) => ({ code: 1, error }))
      .then((result) => {
        if (result.error !== undefined) lose(spans.length, reasonOf(result.error));
        done(result);
      });
  };

  const batches = new BatchSpanProcessor({
    exporter: { export: send, shutdown: () => exporter.shutdown() },
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
