import type { TestContext } from 'node:test';
import { importValues } from '../../../operator/src/ingest/import.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { startTestService, type TestService } from '../../../testkit/service/service.ts';
import { PartnerNetwork, type PartnerNetworkOptions } from '../../src/index.ts';

type Choices = Partial<PartnerNetworkOptions>;

export async function startNetwork(t: TestContext, choices?: Parameters<typeof startTestService>[1]) {
  const service = await startTestService(t, choices);
  const baseUrl = `http://127.0.0.1:${service.port}/network/v1`;
  return { service, baseUrl, connect: (options?: Choices) => connectTo(baseUrl, options) };
}

/** A client with the key of the partner that owns most records of the fixture. */
export function connectTo(baseUrl: string, options: Choices = {}): PartnerNetwork {
  return new PartnerNetwork({ apiKey: keys.acme, baseUrl, ...options });
}

/** Adds brands, each with its own reference. */
export async function addBrands({ store }: TestService, count: number): Promise<void> {
  const values = Array.from({ length: count }, (_, index) => {
    const number = String(index).padStart(4, '0');
    return { id: `c${number}`, name: `Brand ${number} 🦊`, reference_id: `more-${number}` };
  });
  await importValues(store, 'brands', values, 'acme');
}

export async function idsOf(records: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of records) ids.push(id);
  return ids;
}
