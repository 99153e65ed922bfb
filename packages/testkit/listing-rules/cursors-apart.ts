/** Tries every cursor with every key: it opens only where it was made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environments } from '@partner-network/contract/environments';
import { createCursors } from '../../service/src/cursors/cursors.ts';
import { partners, seen, tenantKeys, tenants } from '../fixtures/tenants.ts';
import { startTestService } from '../service/service.ts';

/** The searches for which a partner can have a cursor. */
function searchesOf(partner: string) {
  const balancesOf = (customer: string) => ({
    listing: 'balances' as const,
    query: `?type=CHECKING&customer_id=${customer}`,
    scope: { endpoint: 'listBalances', filters: [customer, 'CHECKING'] },
  });
  const brandsBy = (query: string, reference: string | undefined) => ({
    listing: 'brands' as const,
    query,
    scope: { endpoint: 'listBrands', filters: [reference] },
  });
  return [
    brandsBy('?limit=9', undefined),
    brandsBy('?reference_id=shared', 'shared'),
    balancesOf('of-all'),
    balancesOf(`of-${partner}`),
  ];
}

export function keepsCursorsApart(listing: 'brands' | 'balances'): void {
  test('a cursor opens for its own partner, search and environment, and nowhere else', async (t) => {
    const service = await startTestService(t, { data: tenants });
    const secrets = await service.store.cursorKeys();
    const sealed = environments.flatMap((environment) => {
      const { seal } = createCursors(secrets, environment, Date.now);
      return partners.flatMap((partner) =>
        searchesOf(partner).map(({ query, scope }) => ({
          where: `${environment} ${partner} ${query}`,
          text: seal({ ...scope, partnerId: partner }, { after: 'a', walPosition: 0n }),
        })),
      );
    });

    let opened = 0;
    for (const { what, text: key, partner, lists } of tenantKeys) {
      const own = searchesOf(partner ?? 'north').filter((search) => search.listing === listing);
      const mayList = lists.includes(listing);
      const ofPartner = sealed.filter(({ where }) => where.startsWith(`sandbox ${partner ?? 'north'} `));
      // A key without the scope is refused before its search and cursor are read: one search is enough.
      for (const { query } of mayList ? own : own.slice(0, 1)) {
        const ask = async (cursor: string) =>
          seen(await service[listing](`${query}&cursor=${cursor}`, { key }));
        const invented = await ask('invented');
        for (const { where, text } of mayList ? sealed : ofPartner) {
          const answer = await ask(text);
          const isOwn = mayList && where === `sandbox ${partner} ${query}`;
          if (isOwn) assert.equal(answer.status, 200, `${what}, ${where}`);
          else assert.deepEqual(answer, invented, `${what}, ${where}`);
          opened += Number(isOwn);
        }
      }
    }
    assert.equal(opened, 2 * 2 * 2, 'two searches, by two keys of two partners');
  });
}
