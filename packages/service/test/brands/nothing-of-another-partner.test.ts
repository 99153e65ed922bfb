/**
 * With any key and any query, another partner's brand gets the same response as an unknown brand: the
 * same body, and the same headers except request id and date.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorsOf } from '../../../testkit/fixtures/http.ts';
import {
  brandsOf,
  partners,
  references,
  seen,
  type TenantKey,
  tenantKeys,
  tenants,
} from '../../../testkit/fixtures/tenants.ts';
import { keepsCursorsApart } from '../../../testkit/listing-rules/cursors-apart.ts';
import { startTestService, type TestService } from '../../../testkit/service/service.ts';

const lists = ({ lists }: TenantKey) => lists.includes('brands');

async function ask({ brands }: TestService, { text }: TenantKey, query: string) {
  return seen(await brands(query, { key: text }));
}

function brandsIn(text: string): [id: string, name: string][] {
  return JSON.parse(text).brands.map(({ id, name }: Record<string, string>) => [id, name]);
}

test('every key finds the brands of its own partner by reference, and no others', async (t) => {
  const service = await startTestService(t, { data: tenants });
  for (const key of tenantKeys) {
    const nothing = await ask(service, key, '?reference_id=ref-nobody');
    assert.equal(nothing.status === 200, lists(key), key.what);
    for (const reference of references) {
      const answer = await ask(service, key, `?reference_id=${reference}`);
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

test("every key walks through its own partner's brands only", async (t) => {
  const service = await startTestService(t, { data: tenants });
  for (const key of tenantKeys.filter(lists)) {
    const walked: [string, string][] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { text } = await ask(service, key, `?limit=1${cursor && `&cursor=${cursor}`}`);
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

test('no parameter or header names another partner', async (t) => {
  const service = await startTestService(t, { data: tenants });
  for (const key of tenantKeys.filter(lists)) {
    const plain = await ask(service, key, '');
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

keepsCursorsApart('brands');
