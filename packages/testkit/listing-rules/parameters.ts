/** The rules of parameters that hold for both listings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../fixtures/fixture.ts';
import { type Answer, assertRefused, errorsOf } from '../fixtures/http.ts';
import { startTestService } from '../fixtures/service.ts';

type Listing = 'brands' | 'balances';

/** A promise, a query, and the expected errors: the code, and the field if it has one. */
type Case = readonly [promise: string, query: string, ...errors: string[]];

/** Tests that each query is refused with exactly these errors, in this order. */
export function refusesParameters(listing: Listing, cases: readonly Case[]): void {
  for (const [promise, query, ...errors] of cases) {
    test(promise, async (t) => {
      const service = await startTestService(t);
      const answer = await service[listing](query, { key: keys.acme });
      const found = errorsOf(answer).map(({ code, field = '' }) => `${code} ${field}`.trim());
      assert.deepEqual([answer.status, ...found], [400, ...errors]);
    });
  }
}

/** Tests limits that are not plain integers, too low or too high. `rest` has the required parameters. */
export function refusesLimits(listing: Listing, rest: string): void {
  const cases: Record<string, string[]> = {
    EXPECTED_INTEGER: '5.0 1e2 %2B5 +5 5+ 0x5 007 -0 five ٣ 1_0 --1 5,0'.split(' '),
    VALUE_TOO_LOW: ['0', '-1', '-99999999999999999999'],
    VALUE_TOO_HIGH: ['101', '99999999999999999999', `1${'0'.repeat(400)}`],
  };
  for (const [code, limits] of Object.entries(cases)) {
    test(`answers ${code} to limits such as ${limits[0]}`, async (t) => {
      const service = await startTestService(t);
      for (const limit of limits) {
        const encoded = limit.startsWith('%') || limit.includes('+') ? limit : encodeURIComponent(limit);
        const answer = await service[listing](`?${rest}limit=${encoded}`, { key: keys.acme });
        assertRefused(answer, 400, [code, 'limit']);
      }
    });
  }

  test('accepts every limit from 1 to 100', async (t) => {
    const service = await startTestService(t);
    for (const limit of [1, 2, 50, 99, 100]) {
      const { status } = await service[listing](`?${rest}limit=${limit}`, { key: keys.acme });
      assert.equal(status, 200);
    }
  });
}

export function detailsOf(answer: Answer): string[] {
  return errorsOf(answer).map(({ detail }) => detail);
}
