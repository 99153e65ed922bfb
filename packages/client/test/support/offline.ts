import { PartnerNetwork, type PartnerNetworkOptions } from '../../src/index.ts';

/** A client whose answers are made here, for what is about the client alone. */
export function offline(options: Partial<PartnerNetworkOptions> = {}): PartnerNetwork {
  return new PartnerNetwork({
    apiKey: 'x',
    baseUrl: 'https://network.example/network/v1',
    maxRate: 0,
    fetch: async () => Response.json({ brands: [{ id: 'one' }] }),
    ...options,
  });
}
