/** The settings of traces, by OpenTelemetry's own variables. Without an endpoint nothing is traced. */
import { Problem, type Values, variableOnly } from '../command-line/options.ts';
import { isWebAddress } from '../lib/text.ts';

function collectorUrl(text: string): string | Problem {
  return isWebAddress(text) && !/[?#]/.test(text)
    ? new URL(text).href.replace(/\/+$/, '')
    : new Problem(
        'must be an http or https address without user, query or fragment, such as http://127.0.0.1:4318.',
      );
}

/** A variable that is checked only if traces are sent: it may be set for other programs. */
const unchecked = (variable: string, help: string) => variableOnly(variable, (text) => text, help);

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
  'sdk-disabled': unchecked('OTEL_SDK_DISABLED', 'true: no traces, whatever else is set'),
  'traces-exporter': unchecked('OTEL_TRACES_EXPORTER', 'none: no traces, too (otlp)'),
  'otlp-headers': unchecked(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'what the collector asks for, such as api-key=…, with commas between',
  ),
  'otlp-compression': unchecked('OTEL_EXPORTER_OTLP_COMPRESSION', 'gzip or none (none)'),
  'otlp-protocol': unchecked(
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'http/json or http/protobuf: traces are sent over HTTP, as JSON',
  ),
  'traces-sampler': unchecked(
    'OTEL_TRACES_SAMPLER',
    'which requests are traced, such as traceidratio (always_on)',
  ),
  'traces-sampler-arg': unchecked('OTEL_TRACES_SAMPLER_ARG', 'share of requests, 0 to 1 (1)'),
};

type TracingConfig = Values<typeof tracingSettings>;

/** `parentbased_` makes no difference: every trace begins here, so that no span has a parent elsewhere. */
const samplers = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]);

/** Where spans are sent to, and the share of requests that is traced, 0 to 1; undefined if tracing is off. */
export function tracesOf(config: TracingConfig): { url: string; share: number } | undefined {
  const { 'otlp-endpoint': base, 'sdk-disabled': isDisabled, 'traces-exporter': exporter } = config;
  const url = config['otlp-traces-endpoint'] ?? (base && `${base}/v1/traces`);
  if (url === undefined || isDisabled?.toLowerCase() === 'true' || exporter === 'none') return undefined;
  const { 'traces-sampler': sampler = 'always_on', 'traces-sampler-arg': ratio = '1' } = config;
  const isRatio = sampler.endsWith('traceidratio');
  return { url, share: isRatio ? Number(ratio) : sampler.endsWith('always_off') ? 0 : 1 };
}

/** Names and percent-encoded values; a comma after the last one is allowed. */
const headersForm = /^\s*(?:[\w!#$%&'*+.^`|~-]+\s*=[^,]*(?:,\s*|$))*$/;
const shareForm = /^(?:0|1|0?\.\d+|[01]\.0+)$/;

/** Invalid settings, if traces are sent. Values are not repeated: a header is a secret. */
export function conflictsOfTracing(config: TracingConfig): string[] {
  if (tracesOf(config) === undefined) return [];
  const { 'traces-sampler': sampler = 'always_on', 'traces-sampler-arg': share = '1' } = config;
  const oneOf = (allowed: readonly string[], given = allowed[0]!) =>
    allowed.includes(given) ? undefined : `one of ${allowed.join(', ')}`;
  const areHeaders = headersForm.test(config['otlp-headers'] ?? '');
  // An unknown sampler may have another kind of argument.
  const isShare = shareForm.test(share) || !samplers.includes(sampler);
  const needed = {
    OTEL_TRACES_EXPORTER: oneOf(['otlp', 'none'], config['traces-exporter']),
    OTEL_EXPORTER_OTLP_COMPRESSION: oneOf(['none', 'gzip'], config['otlp-compression']),
    OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(['http/json', 'http/protobuf'], config['otlp-protocol']),
    OTEL_TRACES_SAMPLER: oneOf(samplers, sampler),
    OTEL_EXPORTER_OTLP_HEADERS: areHeaders
      ? undefined
      : 'NAME=VALUE, with commas between, values percent-encoded',
    OTEL_TRACES_SAMPLER_ARG: isShare ? undefined : 'a number from 0 to 1',
  };
  return Object.entries(needed).flatMap(([variable, form]) =>
    form === undefined ? [] : [`${variable} must be ${form}.`],
  );
}
