/** The rules of methods that hold for both listings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from '../fixtures/http.ts';
import { startTestService } from '../service/service.ts';

export function isReadOnly(listing: 'brands' | 'balances'): void {
  test('answers METHOD_NOT_ALLOWED to every other method, before it asks for credentials', async (t) => {
    const service = await startTestService(t);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY']) {
      const answer = await service[listing]('', { method });
      assertRefused(answer, 405, 'METHOD_NOT_ALLOWED');
      assert.equal(answer.headers.allow, 'GET, HEAD, OPTIONS');
    }
  });

  test('OPTIONS needs no credentials and answers 204 with the methods', async (t) => {
    const service = await startTestService(t);
    const { status, headers, text } = await service[listing]('?anything=goes', { method: 'OPTIONS' });
    assert.equal(status, 204);
    assert.equal(headers.allow, 'GET, HEAD, OPTIONS');
    assert.equal(text, '');
  });
}
