/** The rules of cursors that hold for both listings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../fixtures/fixture.ts';
import { type Answer, assertRefused } from '../fixtures/http.ts';
import { startTestService, type TestService } from '../service/service.ts';

type Listing = 'brands' | 'balances';

const queries = { brands: '?limit=1', balances: '?limit=1&customer_id=alice&type=CHECKING' };

async function cursorOf(service: TestService, listing: Listing): Promise<string> {
  const { text } = await service[listing](queries[listing], { key: keys.acme });
  return JSON.parse(text).cursor;
}

/** All texts of these bytes with one bit flipped. */
function flips(bytes: Buffer, encoding: 'latin1' | 'base64url'): string[] {
  return Array.from({ length: bytes.length * 8 }, (_, bit) => {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    return flipped.toString(encoding);
  });
}

export function refusesForeignCursors(listing: Listing): void {
  const send = (service: TestService, cursor: string): Promise<Answer> =>
    service[listing](`${queries[listing]}&cursor=${encodeURIComponent(cursor)}`, { key: keys.acme });

  const assertInvalid = async (service: TestService, cursor: string) =>
    assertRefused(await send(service, cursor), 400, ['INVALID_CURSOR', 'cursor']);

  test('a cursor with any flipped bit, cut, padded, doubled or in another alphabet is refused', async (t) => {
    const service = await startTestService(t);
    const cursor = await cursorOf(service, listing);
    assert.equal((await send(service, cursor)).status, 200);
    // A flip can make a control character, which is another error, or bytes that are not UTF-8.
    const texts = flips(Buffer.from(cursor), 'latin1').filter((text) => /^[\x20-\x7e]+$/.test(text));
    assert.ok(texts.length > cursor.length * 5);
    texts.push(...flips(Buffer.from(cursor, 'base64url'), 'base64url'));
    texts.push(`${cursor}=`, `${cursor}A`, `${cursor}${cursor}`, `${cursor} `, cursor.slice(0, -1), '-', 'A');
    const standard = Buffer.from(cursor, 'base64url').toString('base64');
    if (standard !== cursor) texts.push(standard);
    for (const text of texts) await assertInvalid(service, text);
  });

  test('a cursor expires after 24 hours', async (t) => {
    let now = Date.parse('2026-06-01T00:00:00Z');
    const service = await startTestService(t, { nowMs: () => now });
    const cursor = await cursorOf(service, listing);
    now += 24 * 3_600_000 - 1;
    assert.equal((await send(service, cursor)).status, 200);
    now += 1;
    await assertInvalid(service, cursor);
  });

  test('a cursor does not replace the credentials', async (t) => {
    const service = await startTestService(t);
    const cursor = await cursorOf(service, listing);
    const answer = await service[listing](`${queries[listing]}&cursor=${cursor}`);
    assertRefused(answer, 401, 'UNAUTHORIZED');
  });
}
