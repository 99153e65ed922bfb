/** Where traces go: nowhere, unless one of the variables that OpenTelemetry has for it is set. */
import { Problem, type Values, variableOnly } from '../command-line/options.ts';
import { isWebAddress } from '../lib/text.ts';

function collectorUrl(text: string): string | Problem {
  return isWebAddress(text) && !/[?#]/.test(text)
    ? new URL(text).href.replace(/\/+$/, '')
    : new Problem(
        'must be an http or https address without user, query or fragment, such as http://127.0.0.1:4318.',
      );
}

const asItIs = (text: string) => text;

/** All but the addresses are judged only where traces are sent: they may be set for other programs. */
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
  'sdk-disabled': variableOnly('OTEL_SDK_DISABLED', asItIs, 'true: no traces, whatever else is set'),
  'traces-exporter': variableOnly('OTEL_TRACES_EXPORTER', asItIs, 'none: no traces, too (otlp)'),
  'otlp-headers': variableOnly(
    'OTEL_EXPORTER_OTLP_HEADERS',
    asItIs,
    'what the collector asks for, such as api-key=…, with commas between',
  ),
  'otlp-compression': variableOnly('OTEL_EXPORTER_OTLP_COMPRESSION', asItIs, 'gzip or none (none)'),
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

export type TracingConfig = Values<typeof tracingSettings>;

/** Each trace begins here, so that a sampler that goes by a parent never finds one. */
const samplers = ['always_on', 'always_off', 'traceidratio'];

/** Undefined where nothing is sent. */
export function urlOfTraces(config: TracingConfig): string | undefined {
  const { 'otlp-endpoint': base, 'sdk-disabled': isDisabled, 'traces-exporter': exporter } = config;
  if (isDisabled?.toLowerCase() === 'true' || exporter === 'none') return undefined;
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

/** Names and values as OpenTelemetry has them; a comma behind the last does no harm. */
const headersForm = /^\s*(?:[\w!#$%&'*+.^`|~-]+\s*=[^,]*(?:,\s*|$))*$/;
const shareForm = /^(?:0|1|0?\.\d+|[01]\.0+)$/;

/** What is wrong with the settings of traces that are sent; none is repeated, for a header is a secret. */
export function conflictsOfTracing(config: TracingConfig): string[] {
  if (urlOfTraces(config) === undefined) return [];
  const sampler = samplerOf(config);
  const oneOf = (variable: string, names: readonly string[], isFine: boolean) =>
    isFine ? [] : [`${variable} must be one of ${names.join(', ')}.`];
  const among = (variable: string, names: readonly string[], given = names[0]!) =>
    oneOf(variable, names, names.includes(given));
  return [
    ...among('OTEL_TRACES_EXPORTER', ['otlp', 'none'], config['traces-exporter']),
    ...(headersForm.test(config['otlp-headers'] ?? '')
      ? []
      : ['OTEL_EXPORTER_OTLP_HEADERS must be NAME=VALUE, with commas between, values percent-encoded.']),
    ...among('OTEL_EXPORTER_OTLP_COMPRESSION', ['none', 'gzip'], config['otlp-compression']),
    ...among('OTEL_EXPORTER_OTLP_PROTOCOL', ['http/json', 'http/protobuf'], config['otlp-protocol']),
    ...oneOf(
      'OTEL_TRACES_SAMPLER',
      samplers.flatMap((name) => [name, `parentbased_${name}`]),
      samplers.includes(sampler),
    ),
    // Of a sampler that is none of ours nobody knows what belongs here.
    ...(!samplers.includes(sampler) || shareForm.test(config['traces-sampler-arg'] ?? '1')
      ? []
      : ['OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.']),
  ];
}
