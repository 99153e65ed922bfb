/** The settings of traces, by OpenTelemetry's own variables. Without an endpoint nothing is traced. */
import {
  type Option,
  Problem,
  type Values,
  variableOnly,
} from '@partner-network/common/command-line/options';
import { isWebAddress } from '@partner-network/common/text';

function collectorUrl(text: string): string | Problem {
  return isWebAddress(text) && !/[?#]/.test(text)
    ? new URL(text).href.replace(/\/+$/, '')
    : new Problem(
        'must be an http or https URL without user, query or fragment, for example http://127.0.0.1:4318.',
      );
}

/** OpenTelemetry specifies that an empty variable counts as not set. */
function endpoint(variable: string, help: string): Option<string | undefined> {
  return { ...variableOnly(variable, collectorUrl, help), mayBeEmpty: true };
}

/** A variable that is checked only if traces are sent: it may be set for other programs. */
function unchecked(variable: string, help: string, fallback?: string): Option<string> {
  const resolve = ([text = fallback ?? '']: readonly string[]) => text;
  return { ...endpoint(variable, help), default: fallback, resolve };
}

export const tracingSettings = {
  'otlp-endpoint': endpoint(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'address of an OpenTelemetry collector, to which /v1/traces is added; without it, no traces are sent',
  ),
  'otlp-traces-endpoint': endpoint(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'full address for traces, including the path; wins over OTEL_EXPORTER_OTLP_ENDPOINT',
  ),
  'sdk-disabled': unchecked('OTEL_SDK_DISABLED', 'true turns traces off, whatever else is set'),
  'traces-exporter': unchecked('OTEL_TRACES_EXPORTER', 'otlp, or none to turn traces off', 'otlp'),
  'otlp-headers': unchecked(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'headers for the collector, such as api-key=…, separated by commas; they are never logged',
  ),
  'otlp-compression': unchecked('OTEL_EXPORTER_OTLP_COMPRESSION', 'gzip or none', 'none'),
  'otlp-protocol': unchecked(
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'http/json or http/protobuf; the service sends JSON in both cases',
    'http/json',
  ),
  'otlp-certificate': unchecked(
    'OTEL_EXPORTER_OTLP_CERTIFICATE',
    "file with the certificate authority for the collector's TLS certificate",
  ),
  'otlp-client-certificate': unchecked(
    'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
    'file with the TLS certificate that the service presents to the collector',
  ),
  'otlp-client-key': unchecked('OTEL_EXPORTER_OTLP_CLIENT_KEY', 'file with the key of that certificate'),
  'traces-sampler': unchecked(
    'OTEL_TRACES_SAMPLER',
    'which requests are traced: always_on, always_off or traceidratio',
    'always_on',
  ),
  'traces-sampler-arg': unchecked(
    'OTEL_TRACES_SAMPLER_ARG',
    'with traceidratio: share of the requests to trace, 0 to 1',
    '1',
  ),
  'service-name': unchecked('OTEL_SERVICE_NAME', 'name of the service in traces', 'partner-network'),
  'resource-attributes': unchecked(
    'OTEL_RESOURCE_ATTRIBUTES',
    'further attributes of the service in traces, such as k8s.pod.name=network-1',
  ),
};

type TracingConfig = Values<typeof tracingSettings>;

/** Where spans are sent to, and the share of requests that is traced, 0 to 1; undefined if tracing is off. */
export function tracesOf(config: TracingConfig): { url: string; share: number } | undefined {
  const { 'otlp-endpoint': base, 'sdk-disabled': isDisabled, 'traces-exporter': exporter } = config;
  const url = config['otlp-traces-endpoint'] ?? (base && `${base}/v1/traces`);
  if (url === undefined || isDisabled.toLowerCase() === 'true' || exporter === 'none') return undefined;
  const { 'traces-sampler': sampler, 'traces-sampler-arg': ratio } = config;
  const isRatio = sampler.endsWith('traceidratio');
  return { url, share: isRatio ? Number(ratio) : sampler.endsWith('always_off') ? 0 : 1 };
}

/** `parentbased_` makes no difference: every trace begins here, so that no span has a parent elsewhere. */
const samplers = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]);

const oneOf = (...values: string[]) => ({
  form: new RegExp(`^(?:${values.join('|')})$`),
  what: `one of ${values.join(', ')}`,
});

/** The form of values, and what they must be in words. */
const rules = {
  'traces-exporter': oneOf('otlp', 'none'),
  'otlp-compression': oneOf('none', 'gzip'),
  'otlp-protocol': oneOf('http/json', 'http/protobuf'),
  'traces-sampler': oneOf(...samplers),
  'otlp-headers': {
    // A comma after the last one is allowed.
    form: /^\s*(?:[\w!#$%&'*+.^`|~-]+\s*=[^,]*(?:,\s*|$))*$/,
    what: 'a list of NAME=VALUE, separated by commas, with percent-encoded values',
  },
  'traces-sampler-arg': { form: /^(?:0|1|0?\.\d+|[01]\.0+)$/, what: 'a number from 0 to 1' },
};

/** Invalid settings, if traces are sent. Values are not repeated: a header is a secret. */
export function conflictsOfTracing(config: TracingConfig): string[] {
  if (tracesOf(config) === undefined) return [];
  const names = Object.keys(rules) as (keyof typeof rules)[];
  const invalid = names.filter((name) => !rules[name].form.test(config[name]));
  return invalid.flatMap((name) => {
    // An unknown sampler may have another kind of argument.
    if (name === 'traces-sampler-arg' && invalid.includes('traces-sampler')) return [];
    return [`${tracingSettings[name].variable} must be ${rules[name].what}.`];
  });
}
