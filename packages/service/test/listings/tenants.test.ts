/**
 * With any key and any query, another partner's record gets the same response as an unknown record: the same
 * body, and the same headers except request id and date. The same holds for another partner's grant, for a
 * customer without a grant for this partner, and for another partner's cursor.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environments } from '@partner-network/contract/environments';
import { errorsOf } from '../../../testkit/fixtures/http.ts';
import {
  balances,
  brandsOf,
  customers,
  grantIds,
  partners,
  references,
  seen,
  standingOf,
  type TenantKey,
  tenantKeys,
  tenants,
} from '../../../testkit/fixtures/tenants.ts';
import { wholeFile } from '../../../testkit/servers/postgres.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { createCursors } from '../../src/cursors.ts';

const service = await startTestService(wholeFile, { data: tenants });

const lists = ({ lists }: TenantKey) => lists.includes('brands');

async function askBrands({ text }: TenantKey, query: string) {
  return seen(await service.brands(query, { key: text }));
}

function brandsIn(text: string): [id: string, name: string][] {
  return JSON.parse(text).brands.map(({ id, name }: Record<string, string>) => [id, name]);
}

test('every key finds the brands of its own partner by reference, and no others', async () => {
  for (const key of tenantKeys) {
    const nothing = await askBrands(key, '?reference_id=ref-nobody');
    assert.equal(nothing.status === 200, lists(key), key.what);
    for (const reference of references) {
      const answer = await askBrands(key, `?reference_id=${reference}`);
      const own = lists(key)
        ? brandsOf(key.partner!).filter((brand) => brand.reference_id === reference)
        : [];
      if (own.length === 0) assert.deepEqual(answer, nothing, `${key.what}, ${reference}`);
      else
        assert.deepEqual(
          brandsIn(answer.text),
          own.map(({ id, name }) => [id, name]),
          key.what,
        );
    }
  }
});

test("every key walks through its own partner's brands only", async () => {
  for (const key of tenantKeys.filter(lists)) {
    const walked: [string, string][] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { text } = await askBrands(key, `?limit=1${cursor && `&cursor=${cursor}`}`);
      walked.push(...brandsIn(text));
      cursor = JSON.parse(text).cursor;
    }
    assert.deepEqual(
      walked,
      brandsOf(key.partner!).map(({ id, name }) => [id, name]),
      key.what,
    );
  }
});

test('no parameter or header names another partner', async () => {
  for (const key of tenantKeys.filter(lists)) {
    const plain = await askBrands(key, '');
    for (const partner of [...partners, 'nobody']) {
      const headers = {
        'X-Partner-Id': partner,
        'X-Forwarded-User': partner,
        'X-Original-URL': `/${partner}`,
      };
      assert.deepEqual(seen(await service.brands('', { key: key.text, headers })), plain, key.what);
      const answer = await service.brands(`?partner_id=${partner}`, { key: key.text });
      assert.deepEqual([answer.status, errorsOf(answer)[0]!.code], [400, 'UNKNOWN_QUERY_PARAMETER']);
      assert.ok(!answer.text.includes(partner), answer.text);
    }
  }
});

async function askBalances(key: string | undefined, customer: string, grant?: string) {
  const named = grant === undefined ? '' : `&grant_id=${grant}`;
  return seen(await service.balances(`?type=CHECKING&customer_id=${customer}${named}`, { key }));
}

test("every key reads what its partner's grants allow, and nothing else", async () => {
  for (const { what, text, partner, lists } of tenantKeys) {
    const unnamed = await askBalances(text, 'nobody');
    const named = await askBalances(text, 'nobody', 'grant-nobody');
    const mayList = lists.includes('balances');
    // A key without the scope is refused before its query is read, so one query is enough.
    for (const grant of [undefined, ...(mayList ? ['grant-nobody', ...grantIds] : [`grant-${partner}`])]) {
      for (const customer of mayList ? [...customers, 'nobody'] : [`of-${partner}`]) {
        const answer = await askBalances(text, customer, grant);
        const standing = mayList ? standingOf(partner!, customer, grant) : 'NOT_FOUND';
        const asked = `${what}, ${customer}, ${grant}`;
        if (standing === 'NOT_FOUND') assert.deepEqual(answer, grant === undefined ? unnamed : named, asked);
        else if (standing === 'ACTIVE') assert.deepEqual(amountsIn(answer.text), amountsOf(customer), asked);
        else assert.equal(JSON.parse(answer.text).errors[0].code, `GRANT_${standing}`, asked);
      }
    }
  }
});

function amountsIn(text: string): number[] {
  return JSON.parse(text).balances.map(({ amount }: { amount: number }) => amount);
}

function amountsOf(customer: string): number[] {
  return balances.filter(({ customer_id }) => customer_id === customer).map(({ amount }) => amount);
}

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

test('a cursor opens for its own partner, search and environment, and nowhere else', async () => {
  const secrets = await service.store.cursorKeys();
  const sealed = environments.flatMap((environment) => {
    const { seal } = createCursors(() => secrets, environment, Date.now);
    return partners.flatMap((partner) =>
      searchesOf(partner).map(({ query, scope }) => ({
        where: `${environment} ${partner} ${query}`,
        text: seal({ ...scope, partnerId: partner }, { after: 'a', walPosition: 0n }),
      })),
    );
  });

  let opened = 0;
  for (const { what, text: key, partner = 'north', lists } of tenantKeys) {
    const ofPartner = sealed.filter(({ where }) => where.startsWith(`sandbox ${partner} `));
    for (const { listing, query } of searchesOf(partner)) {
      const ask = async (cursor: string) =>
        seen(await service[listing](`${query}&cursor=${cursor}`, { key }));
      const invented = await ask('invented');
      const mayList = lists.includes(listing);
      // A key without the scope is refused before its cursor is read: the cursors of its partner are enough.
      for (const { where, text } of mayList ? sealed : ofPartner) {
        const answer = await ask(text);
        const isOwn = mayList && where === `sandbox ${partner} ${query}`;
        if (isOwn) assert.equal(answer.status, 200, `${what}, ${where}`);
        else assert.deepEqual(answer, invented, `${what}, ${where}`);
        opened += Number(isOwn);
      }
    }
  }
  assert.equal(opened, 4 * 2 * 2, 'four searches, each by two keys of two partners');
});
