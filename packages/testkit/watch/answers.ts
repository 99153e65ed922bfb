/**
 * Holds what a test's service sends against the OpenAPI document, whoever receives it: a browser, a command
 * or the client. Our own caller looks at its answers itself, as they come over the wire; it has no name.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { basePath } from '@partner-network/contract/operations';
import { assertDocumented } from './documented.ts';
import { keepExchange } from './logs.ts';

/** To be called before the service answers there. An answer that is not documented fails the test. */
export function watchAnswers(server: Server): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers['user-agent'] === undefined) return;
    const sent = { writeHead: response.writeHead, end: response.end };
    let headers: Readonly<Record<string, string>> = {};
    Object.assign(response, {
      writeHead(status: number, list: readonly string[]) {
        headers = byName(list);
        return sent.writeHead.call(response, status, [...list]);
      },
      end(body?: string | Buffer) {
        const text = request.method === 'HEAD' ? '' : String(body ?? '');
        keepExchange(request.url ?? '', text);
        // Thrown here, it would become an answer of the service.
        queueMicrotask(() => look(request, { status: response.statusCode, headers, text }));
        return sent.end.call(response, body, 'utf8');
      },
    });
  });
}

type Sent = Parameters<typeof assertDocumented>[0];

function look({ method = '', url = '' }: IncomingMessage, answer: Sent): void {
  // The page at /docs and the other files are not in the document; their refusals are.
  if (url.startsWith(`${basePath}/b`) || answer.status >= 400) assertDocumented(answer, method, url);
}

/** Of a list in which names and values stand in turn. */
function byName(list: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (let at = 0; at < list.length; at += 2) found[list[at]!.toLowerCase()] = list[at + 1]!;
  return found;
}
