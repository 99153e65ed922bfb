import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLine } from '../../../common/src/command-line/parse.ts';
import { serve } from '../../../operator/src/commands/serve.ts';
import { assertFailed, run } from '../../../testkit/fixtures/run.ts';
import type { ServeConfig } from '../../src/settings.ts';
import { tracesOf } from '../../src/tracing/settings.ts';

const endpoint = 'OTEL_EXPORTER_OTLP_ENDPOINT';

const invalidUrls = ['collector:4318', 'ftp://x', 'grpc://x:4317', 'http://', 'http://x/?a=b', 'http://x y'];

function tracesWith(variables: Record<string, string>) {
  const { values, problems } = parseLine(serve, [], variables);
  assert.deepEqual(problems, []);
  return tracesOf(values as ServeConfig);
}

test('an invalid endpoint is reported with the other settings, and not repeated', async () => {
  const variables = { [endpoint]: 'https://user:secret@collector.example', PORT: 'x' };
  const finished = await run(['serve'], { variables });
  assertFailed(finished, 2, /^OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL .*\.$/m, /^PORT /m);
  assert.doesNotMatch(finished.stderr, /secret/);
  for (const name of [endpoint, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) {
    for (const url of invalidUrls) {
      const [problem, ...others] = parseLine(serve, [], { [name]: url }).problems;
      assert.ok(problem?.startsWith(`${name} must be an http or https URL`), url);
      assert.deepEqual(others, []);
    }
  }
});

test('the endpoint has a variable and no flag', () => {
  const { problems } = parseLine(serve, ['--otlp-endpoint', 'http://127.0.0.1:4318'], {});
  assert.match(problems[0]!, /^Set the variable OTEL_EXPORTER_OTLP_ENDPOINT instead of --otlp-endpoint: /);
});

test('traces go to /v1/traces of the endpoint, or to an endpoint of their own', () => {
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://d/t' };
  for (const [variables, url] of [
    [{}, undefined],
    [{ [endpoint]: '' }, undefined],
    [{ [endpoint]: 'http://c:4318/' }, 'http://c:4318/v1/traces'],
    [{ [endpoint]: 'https://c/otlp' }, 'https://c/otlp/v1/traces'],
    [{ [endpoint]: 'http://c', ...own }, 'http://d/t'],
  ] as const)
    assert.equal(tracesWith(variables)?.url, url);
});

test('nothing is sent if OpenTelemetry is switched off', () => {
  for (const [name, value, isOn] of [
    ['OTEL_SDK_DISABLED', 'true', false],
    ['OTEL_SDK_DISABLED', 'TRUE', false],
    ['OTEL_SDK_DISABLED', 'false', true],
    ['OTEL_TRACES_EXPORTER', 'none', false],
    ['OTEL_TRACES_EXPORTER', 'otlp', true],
  ] as const)
    assert.equal(tracesWith({ [endpoint]: 'http://c', [name]: value }) !== undefined, isOn);
});

test('an invalid header, compression, exporter or share is reported, and not repeated', () => {
  const refused = (name: string, value: string) =>
    parseLine(serve, [], { [endpoint]: 'http://c', [name]: value }).problems;
  for (const [name, value] of [
    ['OTEL_EXPORTER_OTLP_HEADERS', 'garbage'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=b,garbage'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'garbage'],
    ['OTEL_TRACES_EXPORTER', 'garbage'],
    ['OTEL_TRACES_SAMPLER_ARG', '7'],
  ] as const) {
    const [problem = '', ...others] = refused(name, value);
    assert.ok(
      problem.startsWith(`${name} must be `) && !problem.includes(value === '7' ? '7' : 'garbage'),
      name,
    );
    assert.deepEqual(others, []);
  }
  for (const headers of ['api-key=a%20b=', ' a=b , c=d,', '']) {
    assert.deepEqual(refused('OTEL_EXPORTER_OTLP_HEADERS', headers), [], headers);
  }
});

test('the sampler traces all requests, no requests, or the given share', () => {
  for (const [sampler, ratio, share] of [
    ['', '', 1],
    ['always_on', '', 1],
    ['parentbased_always_off', '1', 0],
    ['traceidratio', '', 1],
    ['traceidratio', '0.25', 0.25],
    ['parentbased_traceidratio', '.5', 0.5],
    ['traceidratio', '1.0', 1],
  ] as const) {
    const variables = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio };
    assert.equal(tracesWith({ [endpoint]: 'http://c', ...variables })?.share, share);
  }
});

test('an unsupported protocol or sampler is reported only if traces are sent', () => {
  const variables = {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_TRACES_SAMPLER: 'jaeger_remote',
    OTEL_TRACES_SAMPLER_ARG: 'endpoint=x',
  };
  assert.deepEqual(parseLine(serve, [], variables).problems, []);
  const { problems } = parseLine(serve, [], { ...variables, [endpoint]: 'http://c' });
  assert.deepEqual(
    problems.map((problem) => problem.split(' must be ')[0]),
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_TRACES_SAMPLER'],
  );
  for (const share of ['1.5', '-1', '50%', 'half', '1e-1']) {
    const ratio = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: share };
    const found = parseLine(serve, [], { ...ratio, [endpoint]: 'http://c' }).problems;
    assert.deepEqual(found, ['OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.'], share);
  }
});
