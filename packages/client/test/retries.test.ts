import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConnectionError, type RequestEvent, TimeoutError } from '../src/index.ts';
import { type Fault, startFaultyProxy } from './support/faulty-proxy.ts';
import {
  addBrands,
  connectTo,
  idsOf,
  skipBackoff,
  startFaultyNetwork,
  startNetwork,
} from './support/network.ts';
import { rejectionOf } from './support/rejection.ts';

/** Faults that a retry overcomes. */
const transient: readonly Fault[] = [
  'cut before the answer',
  'reset before the answer',
  'cut in the head',
  'cut in the body',
  'shortened body',
  'broken UTF-8',
  'broken JSON',
  'HTML 502',
  'empty 504',
  '503 at once',
  'HTML 200',
];

for (const fault of ['silence', 'silence in the body'] as const) {
  test(`a walk continues after ${fault} for longer than timeoutMs`, async (t) => {
    const attempts: number[] = [];
    const onRequest = ({ attempt }: RequestEvent) => void attempts.push(attempt);
    const { network, proxy } = await startFaultyNetwork(t, ['none', fault], { onRequest });
    const list = network.brands.list({ limit: 2 }, { timeoutMs: 200, maxRetries: 100 });
    assert.deepEqual(await idsOf(list), ['b1', 'b2', 'b3']);
    assert.ok(attempts.includes(2));
    // On a busy machine any attempt may take too long. All attempts for a page send the same request.
    assert.equal(attempts.filter((attempt) => attempt === 1).length, 2);
    assert.equal(new Set(proxy.targets).size, 2);
  });
}

test('silence ends in a TimeoutError, and a broken answer in a ConnectionError', async (t) => {
  const { network, proxy } = await startFaultyNetwork(t, ['silence', 'cut in the body'], { maxRetries: 0 });
  const late = await rejectionOf(network.brands.list({}, { timeoutMs: 50 }), TimeoutError);
  assert.equal(late.message, `${proxy.baseUrl} did not send a complete response within 50 ms.`);
  const { message } = await rejectionOf(network.brands.list(), ConnectionError);
  assert.ok(message.startsWith(`${proxy.baseUrl} did not complete its response: `), message);
});

test('a walk through any faults returns exactly the records, in order, each once', async (t) => {
  skipBackoff(t);
  const { connect, service } = await startNetwork(t);
  await addBrands(service, 17);
  const expected = await idsOf(connect().brands.list());
  const faults: Fault[] = [];
  const proxy = await startFaultyProxy(t, service.port, faults);
  const network = connectTo(proxy.baseUrl, { maxRate: 0, maxRetries: 100 });

  const anyFaults = fc.array(fc.constantFrom<Fault>('none', ...transient), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(anyFaults, fc.integer({ min: 1, max: 7 }), async (some, limit) => {
      faults.splice(0, faults.length, ...some);
      const asked = proxy.targets.length;
      assert.deepEqual(await idsOf(network.brands.list({ limit })), expected);
      const pages = Math.ceil(expected.length / limit);
      const failures = some.slice(0, proxy.targets.length - asked).filter((fault) => fault !== 'none').length;
      assert.equal(proxy.targets.length - asked, pages + failures, 'only failed requests are repeated');
    }),
    { numRuns: 15 },
  );
});
