/**
 * Compares the responses of a test's service with the OpenAPI document when a browser, a command or the
 * client receives them. The caller of fixtures/http.ts, which sends no User-Agent, compares them itself.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { basePath } from '@partner-network/contract/operations';
import { assertDocumented, isPageOfError } from './documented.ts';
import { keepExchange } from './logs.ts';

/** Call it before the service answers. A response that is not documented fails the test. */
export function watchAnswers(server: Server): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // A rehearsal also sends what is not documented.
    if (request.headers['user-agent'] === undefined || request.url?.startsWith('/rehearsals')) return;
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
        // An error that is thrown here would become a response of the service.
        queueMicrotask(() => check(request, { status: response.statusCode, headers, text }));
        return sent.end.call(response, body, 'utf8');
      },
    });
  });
}

type Sent = Parameters<typeof assertDocumented>[0];

function check({ method = '', url = '' }: IncomingMessage, answer: Sent): void {
  // The document does not describe /docs and the other files, but their error responses.
  // A browser gets some of these as pages.
  if (isPageOfError(answer)) return;
  if (url.startsWith(`${basePath}/b`) || answer.status >= 400) assertDocumented(answer, method, url);
}

/** Headers by name, from a list in which names and values alternate. */
function byName(list: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at < list.length; at += 2) headers[list[at]!.toLowerCase()] = list[at + 1]!;
  return headers;
}
