import { originOf } from '@partner-network/common/host-and-port';
import { commonHeaders, refusal } from '@partner-network/http/refusal';
import { newRequestId } from '@partner-network/http/request';
import { createHttpServer, listen } from '@partner-network/http/server/server';
import { keysIn } from './keys-in.ts';
import type { Runs } from './runs.ts';

/** The other address of the redirect, on this machine. It sees whether a client sends its key there. */
export async function openWatchedOrigin(runs: Runs) {
  const host = '127.0.0.1';
  const { headers, body } = refusal('NOT_FOUND');
  const server = createHttpServer().on('request', (request, response) => {
    const { url = '', method = '' } = request;
    const watchId = url.split('/')[1]!;
    const run = runs.findWatched(watchId);
    if (run !== undefined) {
      const { inAuthorization, elsewhere } = keysIn(request);
      const reason =
        'The client sent its key to another address. Do not follow redirects, or leave the key out.';
      run.check('kept-its-key', (inAuthorization ?? elsewhere) === undefined, reason);
      runs.add(run, method, origin + url.slice(1 + watchId.length), performance.now()).status = 404;
    }
    response.writeHead(404, [...commonHeaders(newRequestId()), ...headers]).end(body);
  });
  const origin = originOf(host, await listen(server, host, 0, '--port'));
  // A start that fails after this must end the process.
  server.unref();
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { origin, close };
}
