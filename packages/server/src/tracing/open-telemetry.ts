/** This file and delivery.ts alone know OpenTelemetry, and are loaded only where traces are sent. */
import {
  type Span as ApiSpan,
  type HrTime,
  type Link,
  ROOT_CONTEXT,
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
import type { Environment } from '@partner-network/contract/environments';
import type { Logger } from 'pino';
import { tracingBounds } from '../bounds/tracing.ts';
import { instanceName } from '../lib/instance.ts';
import { within } from '../lib/timeout.ts';
import { ownVersion } from '../lib/version.ts';
import type { Span } from '../observability/span.ts';
import { createCollectorAgent } from './collector-agent.ts';
import { createDelivery } from './delivery.ts';
import type { CallersSpan, Tracing } from './port.ts';

interface Destination {
  readonly url: string;
  /** Of the requests, 0 to 1. */
  readonly share: number;
  readonly environment: Environment;
  readonly databaseSystem: string;
}

export function openTracing({ url, share, environment, databaseSystem }: Destination, log: Logger): Tracing {
  const agent = createCollectorAgent(url);
  const exporter = new OTLPTraceExporter({
    url,
    httpAgentOptions: () => agent,
    // Ours and not a variable's, for at the end of the process this is waited for.
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

  function spanOf(span: ApiSpan, now: Clock): Span {
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
    // Decided before anything is made of it, for the library takes 10 µs to find that it will not be sent.
    isDue: () => Math.random() < share,
    begin: (name, attributes, caller) => {
      const links = caller === undefined ? [] : [linkTo(caller)];
      const now = createClock();
      const options = { kind: SpanKind.SERVER, attributes, links, startTime: now() };
      return spanOf(tracer.startSpan(name, options, ROOT_CONTEXT), now);
    },
    // What the collector has not taken by then is lost, and has been told of.
    close: async () => {
      await within(tracingBounds.tracesCloseMs, provider.shutdown(), () => new Error()).catch(() => {});
      agent.destroy();
    },
  };
}

type Clock = () => HrTime;

/**
 * The clock of a trace: the time of day when it began, and from there one that counts microseconds. The
 * library's own counts whole milliseconds, in which a request is over before its steps have begun.
 */
function createClock(): Clock {
  const offsetMs = Date.now() - performance.now();
  return () => {
    const ms = offsetMs + performance.now();
    const seconds = Math.floor(ms / 1_000);
    return [seconds, Math.floor((ms - seconds * 1_000) * 1e6)];
  };
}

function linkTo({ traceId, spanId, flags }: CallersSpan): Link {
  return { context: { traceId, spanId, traceFlags: flags, isRemote: true } };
}

/** Who sends them. What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say wins. */
function resourceOf(environment: Environment) {
  const ours = resourceFromAttributes({
    'service.name': 'partner-network',
    'service.version': ownVersion(),
    // Workers of an instance share its name, and each sends its own.
    'service.instance.id': `${instanceName()}-${process.pid}`,
    'deployment.environment.name': environment,
  });
  const detectors = [resourceAttributesEnvDetector, serviceNameEnvDetector];
  return defaultResource().merge(ours).merge(detectResources({ detectors }));
}
