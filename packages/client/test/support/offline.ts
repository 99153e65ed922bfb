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
