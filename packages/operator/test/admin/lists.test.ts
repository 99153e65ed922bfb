/** The lists of the administrative API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { receiptAt } from '../../../store/test/suite/receipts.ts';
import { adminScene, assertErrors, type Body, engines } from './scene.ts';

for (const engine of engines) {
  test(`every list is paged by a cursor, each record once, in order (${engine})`, async (t) => {
    const { send, store, put } = await adminScene(t, engine);
    await store.recordReceipts(Array.from({ length: 7 }, (_, index) => receiptAt(index)));
    const usage = { partner_id: 'acme', key_id: 'k', operation: 'listBrands', count: 1 };
    await store.recordUsage(
      Array.from({ length: 7 }, (_, index) => ({
        ...usage,
        code: `CODE_${index}`,
        from: '2026-06-01T00:00:00.000Z',
      })),
    );
    for (const id of ['x', 'y', 'z']) await put(`/partners/${id}`, { name: id });
    for (const [path, name] of [
      ['/partners', 'partners'],
      ['/keys', 'keys'],
      ['/keys?partner_id=acme', 'keys'],
      ['/grants?customer_id=alice', 'grants'],
      ['/grants?partner_id=acme', 'grants'],
      ['/audit', 'entries'],
      ['/receipts', 'receipts'],
      ['/usage', 'usage'],
    ] as const) {
      const whole = (await send(path, { role: 'VIEWER' })).body;
      assert.equal(whole.cursor, undefined);
      assert.ok(whole[name].length > 2, path);
      const walked: Body[] = [];
      let cursor = '';
      do {
        const join = path.includes('?') ? '&' : '?';
        const { body } = await send(`${path}${join}limit=2${cursor && `&cursor=${cursor}`}`);
        assert.ok(body[name].length <= 2);
        walked.push(...body[name]);
        cursor = body.cursor ?? '';
      } while (cursor !== '');
      assert.deepEqual(walked, whole[name], path);
    }
    const { cursor } = (await send('/keys?limit=1')).body;
    for (const path of ['/partners?', '/keys?partner_id=acme&']) {
      assertErrors(await send(`${path}cursor=${cursor}`), 400, 'INVALID_CURSOR cursor');
    }
  });

  test(`changes of a partner or customer include those of its keys and grants (${engine})`, async (t) => {
    const { send, store } = await adminScene(t, engine);
    for (const [action, target, details] of [
      ['partners disable', 'P', { partner_id: 'P' }],
      ['keys revoke', 'K', { partner_id: 'P' }],
      ['grants revoke', 'G', { partner_id: 'P', customer_id: 'C' }],
      ['grants revoke', 'C', { grants: ['H'] }],
    ] as const)
      await store.addAudit({ actor: 'admin-key:A', action }, target, details);
    for (const [query, targets] of Object.entries({
      'target=P': 'G K P',
      'target=P&limit=2': 'G K',
      'target=P&action=keys+revoke&actor=A': 'K',
      'target=C': 'C G',
      'target=G': 'G',
    })) {
      const { body } = await send(`/audit?${query}`);
      assert.equal(body.entries.map(({ target }: Body) => target).join(' '), targets, query);
    }
  });

  test(`logs are filtered by time and by their fields (${engine})`, async (t) => {
    const { send, store } = await adminScene(t, engine);
    const receipts = [receiptAt(0), receiptAt(60_000, { outcome: 'GRANT_REVOKED', customer_id: 'zoe' })];
    await store.recordReceipts(receipts);
    const found = async (query: string) =>
      (await send(`/receipts?${query}`)).body.receipts.map((receipt: Body) => receipt.request_id);
    const [first, second] = receipts.map(({ request_id }) => request_id);
    assert.deepEqual(await found('outcome=GRANT_REVOKED'), [second]);
    assertErrors(await send('/receipts?outcome=granted'), 400, 'INVALID_ENUM_VALUE outcome');
    assert.deepEqual(await found('customer_id=alice'), [first]);
    assert.deepEqual(await found(`since=${receipts[1]!.at}`), [second]);
    assert.deepEqual(await found(`until=${receipts[1]!.at}`), [first]);
    assert.deepEqual(await found(`request_id=${first!.toUpperCase()}`), [first]);
    assert.deepEqual(await found('request_id=x'), []);
    assert.deepEqual(await found('key_id=nobody'), []);
    assert.deepEqual((await send(`/requests/${first}`)).body, { receipt: receipts[0] });
    const missing = await send('/requests/x');
    assertErrors(missing, 404, 'NOT_FOUND');
    assert.match(missing.body.errors[0].detail, /Search the log of "partner-network serve".* admin"/);
    assertErrors(await send('/audit?since=yesterday'), 400, 'INVALID_TIME since');
    const swapped = `since=${receipts[1]!.at}&until=${receipts[0]!.at}`;
    assertErrors(await send(`/audit?${swapped}`), 400, 'INVALID_TIME since');
    for (const [log, name] of Object.entries({ audit: 'entries', receipts: 'receipts', usage: 'usage' })) {
      const { status, body } = await send(`/${log}?since=9999-01-01T00:00:00Z`);
      assert.deepEqual([status, body], [200, { [name]: [] }], 'nothing is that new');
    }
    assertErrors(await send('/usage?by=week&limit=0'), 400, 'INVALID_ENUM_VALUE by', 'VALUE_TOO_LOW limit');
    assertErrors(await send('/partners?colour=red'), 400, 'UNKNOWN_QUERY_PARAMETER colour');
  });
}
