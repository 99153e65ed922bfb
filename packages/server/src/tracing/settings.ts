/** Where traces go: nowhere, unless one of the variables that OpenTelemetry has for it is set. */
import { Problem, type Values, variableOnly } from '../command-line/options.ts';
import { isWebAddress } from '../text.ts';

function collectorUrl(text: string): string | Problem {
  return isWebAddress(text) && !/[?#]/.test(text)
    ? new URL(text).href.replace(/\/+$/, '')
    : new Problem(
        'must be an http or https address without user, query or fragment, such as http://127.0.0.1:4318.',
      );
}

const asItIs = (text: string) => text;

/** The last three are judged only where traces are sent: they may be set for other programs. */
export const tracingSettings = {
  'otlp-endpoint': variableOnly(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    collectorUrl,
    'OpenTelemetry collector that traces are sent to (none)',
  ),
  'otlp-traces-endpoint': variableOnly(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    collectorUrl,
    'the same with its path, where traces have an address of their own',
  ),
  'otlp-protocol': variableOnly(
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    asItIs,
    'http/json or http/protobuf: traces are sent over HTTP, as JSON',
  ),
  'traces-sampler': variableOnly(
    'OTEL_TRACES_SAMPLER',
    asItIs,
    'which requests are traced, such as traceidratio (always_on)',
  ),
  'traces-sampler-arg': variableOnly('OTEL_TRACES_SAMPLER_ARG', asItIs, 'share of requests, 0 to 1 (1)'),
};

type TracingConfig = Values<typeof tracingSettings>;

/** Each trace begins here, so that a sampler that goes by a parent never finds one. */
const samplers = ['always_on', 'always_off', 'traceidratio'];
const protocols = ['http/json', 'http/protobuf'];

export function urlOfTraces(config: TracingConfig): string | undefined {
  const base = config['otlp-endpoint'];
  return config['otlp-traces-endpoint'] ?? (base === undefined ? undefined : `${base}/v1/traces`);
}

/** The share of requests that is traced. */
export function shareOfTraces(config: TracingConfig): number {
  const sampler = samplerOf(config);
  if (sampler === 'traceidratio') return Number(config['traces-sampler-arg'] ?? 1);
  return sampler === 'always_off' ? 0 : 1;
}

function samplerOf(config: TracingConfig): string {
  return (config['traces-sampler'] ?? 'always_on').replace(/^parentbased_/, '');
}

/** What is wrong with the settings of traces that are sent. */
export function conflictsOfTracing(config: TracingConfig): string[] {
  if (urlOfTraces(config) === undefined) return [];
  const { 'otlp-protocol': protocol = 'http/json', 'traces-sampler-arg': share = '1' } = config;
  const names = samplers.flatMap((name) => [name, `parentbased_${name}`]);
  const sampler = samplerOf(config);
  const isShare = /^(?:0|1|0?\.\d+|[01]\.0+)$/.test(share);
  return [
    ...(protocols.includes(protocol)
      ? []
      : [`OTEL_EXPORTER_OTLP_PROTOCOL must be one of ${protocols.join(', ')}.`]),
    ...(samplers.includes(sampler) ? [] : [`OTEL_TRACES_SAMPLER must be one of ${names.join(', ')}.`]),
    ...(sampler !== 'traceidratio' || isShare
      ? []
      : ['OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.']),
  ];
}
