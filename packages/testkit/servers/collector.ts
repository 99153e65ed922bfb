/** An OpenTelemetry collector for tests, on a real socket. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { TestContext } from 'node:test';
import { listenOnAnyPort } from './free-port.ts';

export interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Record<string, string | number>;
  readonly resource: Record<string, string | number>;
  readonly status: { readonly code: number };
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

/** An endless collector accepts everything but never ends its answer. */
export async function startCollector(t: TestContext, isEndless = false) {
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    bodies.push(Buffer.concat(chunks).toString());
    headers.push(request.headers);
    response.setHeader('Content-Type', 'application/json');
    if (!isEndless) return response.end('{}');
    const more = setInterval(() => response.write(' '), 100);
    response.on('close', () => clearInterval(more));
  });
  const spans = () => bodies.flatMap(spansOf);
  return {
    url: `http://127.0.0.1:${await listenOnAnyPort(t, server)}`,
    /** The bodies of all requests. */
    text: () => bodies.join('\n'),
    spans,
    /** The spans of the trace of a request, in the order in which they began. */
    traceOf: (requestId: unknown) => {
      const all = spans();
      const ofRequest = all.find(({ attributes }) => attributes['partner_network.request_id'] === requestId);
      return all
        .filter(({ traceId }) => traceId === ofRequest?.traceId)
        .toSorted((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));
    },
    headers: () => headers,
  };
}

/** The spans in a request to the collector: OTLP as JSON. */
function spansOf(body: string): SentSpan[] {
  // biome-ignore lint/suspicious/noExplicitAny: SentSpan says what the tests read of it.
  const { resourceSpans }: { resourceSpans: any[] } = JSON.parse(body);
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope: { spans: SentSpan[] }) =>
      scope.spans.map((span) => ({
        ...span,
        attributes: recordOf(span.attributes as never),
        resource: recordOf(resource.attributes),
      })),
    ),
  );
}

function recordOf(attributes: readonly { key: string; value: object }[]): Record<string, string | number> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
