/** Sends traces to a collector: OTLP over HTTP, as JSON. Loaded only if a collector is configured. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import querystring from 'node:querystring';
import { gzipSync } from 'node:zlib';
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

/** A span as its children and its links name it. */
export interface SpanName {
  readonly traceId: string;
  readonly spanId: string;
}

const kinds = { internal: 1, server: 2, client: 3 };

/** 16 bytes. Node keeps random bytes for UUIDs: asking for others takes 4 µs. */
const randomId = () => randomUUID().replaceAll('-', '');

/** Sends a share of the requests, 0 to 1, as traces to the collector at `url`. */
export function openTracing(
  { url, share }: { readonly url: string; readonly share: number },
  environment: Environment,
  engine: DatabaseAddress['engine'],
  log: Logger,
) {
  const delivery = createDelivery(createSender(url), resourceOf(environment), log);

  /** Begins a step of `parent`, or a trace. `now` is in nanoseconds. */
  function begin(
    name: string,
    kind: keyof typeof kinds,
    about: Attributes,
    now: () => string,
    parent?: SpanName,
  ) {
    const attributes = { ...about };
    const span = {
      traceId: parent?.traceId ?? randomId(),
      spanId: randomId().slice(16),
      parentSpanId: parent?.spanId,
      name,
      kind: kinds[kind],
      startTimeUnixNano: now(),
      links: [] as SpanName[],
    };
    const step: Span = {
      traceId: span.traceId,
      note: (more) => Object.assign(attributes, more),
      begin: (...step) => begin(...step, now, span).step,
      end(fault) {
        if (fault !== undefined) attributes['error.type'] = fault;
        const status = { code: fault === undefined ? 0 : 2 };
        delivery.add({ ...span, endTimeUnixNano: now(), attributes: listOf(attributes), status });
      },
    };
    return { span, step };
  }

  return {
    /** OpenTelemetry's name of the database engine. */
    databaseSystem: engine === 'postgres' ? 'postgresql' : engine,
    /** Whether the next request is traced. */
    isSampled: () => Math.random() < share,
    /** Begins the trace of a request. `caller` is the span of the client's own trace. */
    begin(name: string, attributes: Attributes, caller: SpanName | undefined): Span {
      const offsetMs = Date.now() - performance.now();
      const now = () => `${Math.round((offsetMs + performance.now()) * 1_000)}000`;
      const { span, step } = begin(name, 'server', attributes, now);
      if (caller !== undefined) span.links.push(caller);
      return step;
    },
    close: delivery.close,
  };
}

function listOf(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: value } : { stringValue: value },
  }));
}

/** Describes this process. The variables of OpenTelemetry override it. */
function resourceOf(environment: Environment): { attributes: object[] } {
  const { OTEL_SERVICE_NAME: name, OTEL_RESOURCE_ATTRIBUTES: others = '' } = process.env;
  const attributes = {
    'service.name': 'partner-network',
    'service.version': ownVersion(),
    // Workers of an instance share its name, and each sends its own spans.
    'service.instance.id': `${instanceName()}-${process.pid}`,
    'deployment.environment.name': environment,
    ...pairsOf(others),
    ...(name && { 'service.name': name }),
  };
  return { attributes: listOf(attributes) };
}

/** Reads NAME=VALUE, separated by commas, with percent-encoded values. */
function pairsOf(text: string): Record<string, string> {
  const pairs = text.matchAll(/([^\s,=]+)\s*=\s*([^,]*)/g);
  return Object.fromEntries(pairs.map(([, name, value]) => [name, querystring.unescape(value!.trim())]));
}

/** The variable of OpenTelemetry for traces, or the one for everything, if it is set. */
function variableOf(name: string): string | undefined {
  const variables = [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`];
  return variables.find((variable) => process.env[variable]);
}

const textOf = (name: string) => process.env[variableOf(name) ?? ''] ?? '';

function fileOf(name: string): Buffer | undefined {
  try {
    return textOf(name) === '' ? undefined : readFileSync(textOf(name));
  } catch (error) {
    throw new OperatorError(`The file in ${variableOf(name)} cannot be read: ${(error as Error).message}.`);
  }
}

/** Sends a body, or rejects with a reason to log. The collector's message may hold anything. */
type Send = (body: string) => Promise<void>;

export function createSender(url: string): Send {
  const isPacked = textOf('COMPRESSION') === 'gzip';
  const encoding = isPacked ? { 'Content-Encoding': 'gzip' } : {};
  const given = pairsOf(textOf('HEADERS'));
  checkHeaders(given);
  const isTls = url.startsWith('https:');
  const [ca, cert, key] = isTls ? ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'].map(fileOf) : [];
  const { request, Agent } = isTls ? https : http;
  const agent = new Agent({ keepAlive: true, ca, cert, key });

  return async (text) => {
    const body = isPacked ? gzipSync(text) : Buffer.from(text);
    const own = { 'Content-Type': 'application/json', 'Content-Length': body.length, ...encoding };
    const headers = { ...given, ...own };
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const signal = AbortSignal.timeout(tracingBounds.answerMs);
    const fail = ({ code, message }: NodeJS.ErrnoException) =>
      reject(signal.aborted ? 'the response takes too long' : (code ?? message));
    const sent = request(url, { method: 'POST', agent, headers, signal }, (response) => {
      const end = () => (response.statusCode! < 300 ? resolve() : reject(response.statusCode));
      response.on('error', fail).on('end', end).resume();
    });
    const close = () => reject('no response');
    sent.on('error', fail).on('close', close).end(body);
    return promise;
  };
}

/** Node throws for a wrong header at each request: the operator learns it at the start. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  try {
    for (const [name, value] of Object.entries(headers)) {
      http.validateHeaderName(name);
      http.validateHeaderValue(name, value);
    }
  } catch {
    // The value is a secret, so the error does not show it.
    throw new OperatorError(`${variableOf('HEADERS')} has a character that a header cannot have.`);
  }
}

/** Sends spans in batches, and logs at most once a minute that some are lost. */
export function createDelivery(
  send: Send,
  resource: object,
  log: Logger,
  nowMs: () => number = () => performance.now(),
) {
  let batch: object[] = [];
  /** Spans in memory: those of the batch, and those that were sent and not answered yet. */
  let kept = 0;
  let lost = 0;
  let timer: NodeJS.Timeout | undefined;
  const underWay = new Set<Promise<void>>();
  const losses = createFailureLog({ remindMs: tracingBounds.warnMs, nowMs });

  function lose(spans: number, reason: string | number): void {
    lost += spans;
    losses.failed(() => {
      log.warn({ reason, spans: lost }, 'traces are lost: the collector does not accept them');
      lost = 0;
    });
  }

  async function sendBatch(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const spans = batch;
    batch = [];
    const scopeSpans = [{ scope: { name: 'partner-network' }, spans }];
    const sent = send(JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }));
    const answered = sent.catch((reason) => lose(spans.length, reason));
    underWay.add(answered);
    await answered;
    underWay.delete(answered);
    kept -= spans.length;
  }

  return {
    add(span: object): void {
      if (kept >= tracingBounds.waiting) {
        lose(1, 'too many spans are waiting');
        return;
      }
      kept += 1;
      if (batch.push(span) >= tracingBounds.batch) void sendBatch();
      else timer ??= setTimeout(sendBatch, tracingBounds.delayMs).unref();
    },
    /** Sends the remaining spans, for at most `closeMs`. */
    async close(): Promise<void> {
      if (batch.length > 0) void sendBatch();
      await within(tracingBounds.closeMs, Promise.all(underWay), Error).catch(() => {});
    },
  };
}
