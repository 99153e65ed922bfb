import { PartnerNetwork, type PartnerNetworkOptions } from '../../src/index.ts';

/** A client without a network: its fetch returns one brand. */
export function offline(options: Partial<PartnerNetworkOptions> = {}): PartnerNetwork {
  return new PartnerNetwork({
    apiKey: 'x',
    baseUrl: 'https://network.example/network/v1',
    maxRate: 0,
    fetch: async () => Response.json({ brands: [{ id: 'one' }] }),
    ...options,
  });
}

/** A client that gets these answers in turn. For answers that the service never sends. */
export function answering(...answers: (ResponseInit & { readonly body: string | ReadableStream })[]) {
  const urls: string[] = [];
  const fetch = async (url: string) => {
    const { body, ...init } = answers[urls.push(url) - 1]!;
    return new Response(body, init);
  };
  return { network: offline({ fetch }), fetch, urls };
}
