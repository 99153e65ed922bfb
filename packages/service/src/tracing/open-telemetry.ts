/** Traces by OpenTelemetry. This file and delivery.ts are loaded only if a collector is configured. */
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
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { tracingBounds } from '@partner-network/common/bounds/service';
import type { Attributes, Span } from '@partner-network/common/observability/span';
import { instanceName, ownVersion } from '@partner-network/common/process';
import { within } from '@partner-network/common/timeout';
import type { Environment } from '@partner-network/contract/environments';
import type { DatabaseAddress } from '@partner-network/store/address';
import type { Logger } from 'pino';
import { createCollectorAgent } from './collector-agent.ts';
import { createDelivery } from './delivery.ts';

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
    /** Sends the remaining spans, for at most `tracesCloseMs`. */
    close: async () => {
      // Lost spans are logged by the delivery.
      await within(tracingBounds.closeMs, provider.shutdown(), () => new Error()).catch(() => {});
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
