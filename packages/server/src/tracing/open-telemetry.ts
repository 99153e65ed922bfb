/** Traces by OpenTelemetry. This file and delivery.ts are loaded only if a collector is configured. */
import { type Span as ApiSpan, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Environment } from '@partner-network/contract/environments';
import type { Logger } from 'pino';
import { tracingBounds } from '../bounds/tracing.ts';
import { instanceName } from '../lib/instance.ts';
import { within } from '../lib/timeout.ts';
import { ownVersion } from '../lib/version.ts';
import type { Span } from '../observability/span.ts';
import { createCollectorAgent } from './collector-agent.ts';
import { createDelivery } from './delivery.ts';
import type { Tracing } from './port.ts';

/** `share` is the share of requests that are traced, 0 to 1. */
export function openTracing(
  url: string,
  share: number,
  environment: Environment,
  databaseSystem: string,
  log: Logger,
): Tracing {
  const agent = createCollectorAgent(url);
  const exporter = new OTLPTraceExporter({
    url,
    httpAgentOptions: () => agent,
    // Overrides OTEL_EXPORTER_OTLP_TIMEOUT, because the end of the process waits for the last answers.
    timeoutMillis: tracingBounds.tracesAnswerMs,
    concurrencyLimit: tracingBounds.tracesUnderWay,
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
    databaseSystem,
    // Not OpenTelemetry's sampler: it takes 11 to 15 µs for a request that is not traced, this less than 1.
    isSampled: () => Math.random() < share,
    begin: (name, attributes, caller) => {
      const links = caller === undefined ? [] : [{ context: { ...caller, isRemote: true } }];
      // OpenTelemetry's own start times are whole milliseconds, longer than most steps of a request.
      const offsetMs = Date.now() - performance.now();
      const now = () => offsetMs + performance.now();
      const options = { kind: SpanKind.SERVER, attributes, links, startTime: now() };
      return spanOf(tracer.startSpan(name, options, ROOT_CONTEXT), now);
    },
    close: async () => {
      // Lost spans are logged by the delivery.
      await within(tracingBounds.tracesCloseMs, provider.shutdown(), () => new Error()).catch(() => {});
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
