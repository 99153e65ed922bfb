/** The rules of cursors that hold for both listings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../fixtures/fixture.ts';
import { type Answer, assertRefused } from '../fixtures/http.ts';
import { startTestService, type TestService } from '../fixtures/service.ts';

type Listing = 'brands' | 'balances';

const queries = { brands: '?limit=1', balances: '?limit=1&customer_id=alice&type=CHECKING' };

async function cursorOf(service: TestService, listing: Listing): Promise<string> {
  const { text } = await service[listing](queries[listing], { key: keys.acme });
  return JSON.parse(text).cursor;
}

export function refusesForeignCursors(listing: Listing): void {
  const send = (service: TestService, cursor: string): Promise<Answer> =>
    service[listing](`${queries[listing]}&cursor=${encodeURIComponent(cursor)}`, { key: keys.acme });

  test('every bit of a cursor counts: with any of them flipped it is INVALID_CURSOR', async (t) => {
    const service = await startTestService(t);
    const cursor = await cursorOf(service, listing);
    assert.equal((await send(service, cursor)).status, 200);
    const bytes = Buffer.from(cursor);
    let refused = 0;
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      const text = flipped.toString('latin1');
      // A flip can make a control character, which is refused as such, or bytes that are no UTF-8.
      if (/^[\x20-\x7e]+$/.test(text)) {
        assertRefused(await send(service, text), 400, ['INVALID_CURSOR', 'cursor']);
        refused += 1;
      }
    }
    assert.ok(refused > bytes.length * 5);
  });

  test('every bit of what a cursor encodes counts, too', async (t) => {
    const service = await startTestService(t);
    const bytes = Buffer.from(await cursorOf(service, listing), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      assertRefused(await send(service, flipped.toString('base64url')), 400, ['INVALID_CURSOR', 'cursor']);
    }
  });

  test('a cursor has one spelling: none cut, padded, doubled or in another alphabet is taken', async (t) => {
    const service = await startTestService(t);
    const cursor = await cursorOf(service, listing);
    const standard = Buffer.from(cursor, 'base64url').toString('base64');
    const spellings = [
      cursor.slice(0, -1),
      `${cursor}=`,
      `${cursor}A`,
      `${cursor}${cursor}`,
      `${cursor} `,
      '-',
      'A',
    ];
    for (const spelling of [...spellings, ...(standard === cursor ? [] : [standard])]) {
      assertRefused(await send(service, spelling), 400, ['INVALID_CURSOR', 'cursor']);
    }
  });

  test('a cursor expires after 24 hours', async (t) => {
    let now = Date.parse('2026-06-01T00:00:00Z');
    const service = await startTestService(t, { nowMs: () => now });
    const cursor = await cursorOf(service, listing);
    now += 24 * 3_600_000 - 1;
    assert.equal((await send(service, cursor)).status, 200);
    now += 1;
    assertRefused(await send(service, cursor), 400, ['INVALID_CURSOR', 'cursor']);
  });

  test('a cursor never stands in for authorization', async (t) => {
    const service = await startTestService(t);
    const cursor = await cursorOf(service, listing);
    const answer = await service[listing](`${queries[listing]}&cursor=${cursor}`);
    assertRefused(answer, 401, 'UNAUTHORIZED');
  });
}
