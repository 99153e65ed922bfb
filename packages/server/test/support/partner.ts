import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { basePath } from '@partner-network/contract/operations';
import type { TestDatabase } from './database.ts';
import { keys } from './fixture.ts';

/** The variables by which a partner's command finds a service and its key. */
export function partnerVariables(port: number, key: string = keys.acme): Record<string, string> {
  return {
    PARTNER_NETWORK_BASE_URL: `http://127.0.0.1:${port}${basePath}`,
    PARTNER_NETWORK_API_KEY: key,
  };
}

/** A store that keeps every page of brands after the first to itself until it is told to go on. */
export function holdSecondPage() {
  const go = Promise.withResolvers<void>();
  let pages = 0;
  return {
    pages: () => pages,
    release: () => go.resolve(),
    reads: async ({ store }: TestDatabase) => ({
      ...store,
      listBrands: async (query: Parameters<typeof store.listBrands>[0]) => {
        pages += 1;
        if (pages > 1) await go.promise;
        return store.listBrands(query);
      },
    }),
  };
}

/** The address of a server in the place of the service, which answers every request with this. */
export function answering(t: TestContext, status: number, body: string): Promise<string> {
  return answeringEach(t, () => [status, body]);
}

export async function answeringEach(
  t: TestContext,
  answerOf: () => readonly [status: number, body: string],
): Promise<string> {
  const server = createServer((_request, response) => {
    const [status, body] = answerOf();
    response.writeHead(status).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
