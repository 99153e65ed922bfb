/** The promises that every listing keeps. What is particular to one listing is in its own folder. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { filtersOf, operationByName } from '@partner-network/contract/operations';
import { byTest, keys } from '../../../testkit/fixtures/fixture.ts';
import { assertRefused, errorsOf } from '../../../testkit/fixtures/http.ts';
import { requiresKey } from '../../../testkit/listing-rules/credentials.ts';
import { refusesForeignCursors } from '../../../testkit/listing-rules/cursors.ts';
import { answersWhileLocked, survivesCrash } from '../../../testkit/listing-rules/faults.ts';
import { isReadOnly } from '../../../testkit/listing-rules/methods.ts';
import { isLimited } from '../../../testkit/listing-rules/rate.ts';
import { startTestService } from '../../../testkit/service/service.ts';

const listings = [
  ['brands', '', keys.acmeBalancesOnly],
  ['balances', '?customer_id=alice&type=CHECKING', keys.acmeBrandsOnly],
] as const;

for (const [listing, query, keyWithoutScope] of listings) {
  suite(listing, () => {
    test('HEAD answers with the headers of GET and no body', async (t) => {
      const { [listing]: list } = await startTestService(t);
      const get = await list(query, { key: keys.acme });
      const head = await list(query, { key: keys.acme, method: 'HEAD' });
      assert.deepEqual([head.status, head.text], [200, '']);
      assert.equal(head.headers['content-length'], get.headers['content-length']);
    });

    test('checks the scope before the parameters, and names the scope that the key lacks', async (t) => {
      const { [listing]: list } = await startTestService(t);
      for (const anyQuery of [query, '?limit=x']) {
        const answer = await list(anyQuery, { key: keyWithoutScope });
        assertRefused(answer, 403, 'INSUFFICIENT_SCOPES');
        assert.ok(errorsOf(answer)[0]!.detail.includes(operationByName[listing].scope));
      }
    });

    test('refuses every key of a disabled partner, until the partner is enabled again', async (t) => {
      const { [listing]: list, store } = await startTestService(t);
      assertRefused(await list(query, { key: keys.closed }), 403, 'PARTNER_DISABLED');
      await store.setPartnerDisabled('closed', undefined, byTest);
      assert.notEqual(errorsOf(await list(query, { key: keys.closed }))?.[0]?.code, 'PARTNER_DISABLED');
    });

    test('every filter selects records: a value that no record has changes the answer', async (t) => {
      const { [listing]: list } = await startTestService(t);
      const all = await list(query, { key: keys.acme });
      for (const name of filtersOf(operationByName[listing])) {
        const search = new URLSearchParams(query);
        search.set(name, 'of no record');
        const answer = await list(`?${search}`, { key: keys.acme });
        assert.notEqual(
          answer.text,
          all.text,
          `${name} has no effect: use it in listings/ and in both stores`,
        );
      }
    });

    isReadOnly(listing);
    refusesForeignCursors(listing);
    requiresKey(listing, query);
    isLimited(listing, query);
    survivesCrash(listing, query);
    answersWhileLocked(listing, query);
  });
}
