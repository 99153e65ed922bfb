/** How a run treats its cases, whatever they do. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { serveHttp } from '../../../operator/test/images/image-host.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { type Case, Failure, Skip } from '../../src/conformance/case.ts';
import type { Given } from '../../src/conformance/given.ts';
import { runCases } from '../../src/conformance/run.ts';

const given: Given = { PARTNER_NETWORK_API_KEY: keys.acme, PARTNER_NETWORK_CUSTOMER_ID: 'customer-1' };

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly rawHeaders: readonly string[];
}

/** Runs cases against a server that answers every request with the same page, and notes the requests. */
async function runOn(t: TestContext, checks: Readonly<Record<string, Partial<Case> | Case['check']>>) {
  const requests: Seen[] = [];
  const address = await serveHttp(t, ({ method, url, rawHeaders }, response) => {
    requests.push({ method, url, rawHeaders });
    response.end('{"brands":[{"name":"secret"}]}');
  });
  const cases = Object.entries(checks).map(([id, given]): Case => {
    const own = typeof given === 'function' ? { check: given } : given;
    return { id, section: '1', profile: 'decisions', title: id, needs: [], check: async () => {}, ...own };
  });
  const expectedFailures = new Set(['expected']);
  const results = await runCases(cases, {
    baseUrl: `${address}/network/v1`,
    given,
    isBurst: false,
    expectedFailures,
  });
  return {
    results,
    byId: Object.fromEntries(results.map((result) => [result.id, result])),
    requests: requests.slice(2),
  };
}

test('a case passes, fails, fails as expected or is skipped, and the others still run', async (t) => {
  const fail: Case['check'] = async (probe) => {
    const answer = await probe.get('/brands?customer_id=customer-1');
    throw new Failure(`nothing of customer-1 or ${keys.zenith}`, { cause: answer });
  };
  const { byId } = await runOn(t, {
    passed: async () => {},
    failed: fail,
    expected: fail,
    broken: async (probe) => {
      const { json } = await probe.get('/brands');
      JSON.parse(`${JSON.stringify(json)} secret`);
    },
    skipped: async () => {
      throw new Skip('more brands than customer-1 has');
    },
    needy: { needs: ['PARTNER_NETWORK_API_KEY', 'PARTNER_NETWORK_GRANT_ID'] },
    burst: { needs: ['--burst'] },
  });
  const { answer, request, ...failed } = byId.failed!;
  const expected = 'nothing of $PARTNER_NETWORK_CUSTOMER_ID or [key]';
  assert.deepEqual(failed, { id: 'failed', section: '1', title: 'failed', status: 'failed', expected });
  assert.match(
    request!,
    /^GET \/network\/v1\/brands\?customer_id=\$PARTNER\w+_ID HTTP.*: Bearer \$PARTNER\w+_KEY$/s,
  );
  assert.match(answer!, /^200\n.*"brands": \[/s);
  assert.equal(byId.expected!.status, 'expected');
  assert.equal(byId.broken!.expected, 'an answer that the case can read (SyntaxError)');
  assert.doesNotMatch(JSON.stringify(byId), /secret/);
  assert.deepEqual(
    [byId.passed!.status, byId.skipped!.variable, byId.needy!.variable, byId.burst!.variable],
    ['passed', 'more brands than $PARTNER_NETWORK_CUSTOMER_ID has', 'PARTNER_NETWORK_GRANT_ID', '--burst'],
  );
});

test('requests are sent as the case says', async (t) => {
  const { requests, byId } = await runOn(t, {
    all: async (probe) => {
      await probe.get('/brands?c=1', '', 'POST');
      await probe.get('/x?raw=%zz', 'Basic x');
      await probe.raw(`GET /raw HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.acme}\r\n\r\n`);
      assert.equal(probe.answers.length, 5, 'the first two are the requests before all cases');
      assert.deepEqual(
        probe.answers.map(({ path }) => path),
        ['/brands', '/balances', '/brands', '/x', undefined],
      );
      throw new Failure('to see the request', { cause: probe.answers.at(-1) });
    },
  });
  assert.deepEqual(
    requests.map(({ method, url }) => `${method} ${url}`),
    ['POST /network/v1/brands?c=1', 'GET /network/v1/x?raw=%zz', 'GET /raw'],
  );
  const [withoutKey, withOther, raw] = requests.map(({ rawHeaders }) => rawHeaders.join());
  assert.doesNotMatch(withoutKey!, /Authorization/);
  assert.match(withOther!, /Authorization,Basic x/);
  assert.match(raw!, new RegExp(`^Host,x,Authorization,Bearer ${keys.acme}$`));
  assert.match(byId.all!.request!, /^GET \/raw HTTP\/1\.1\nHost: x\nAuthorization: Bearer \$PARTNER\w+$/);
});

test('cases share what one of them made, but not a failure', async (t) => {
  let made = 0;
  const make = async () => {
    made += 1;
    if (made === 1) throw new Error('the first attempt fails');
    return made;
  };
  const { byId } = await runOn(t, {
    first: (probe) => probe.once('name', make).then(() => {}),
    second: async (probe) => assert.equal(await probe.once('name', make), 2),
    third: async (probe) => assert.equal(await probe.once('name', make), 2),
  });
  assert.deepEqual(
    [byId.first!.status, byId.second!.status, byId.third!.status],
    ['failed', 'passed', 'passed'],
  );
});

test('the report is in the order of sections', async (t) => {
  const sections = {
    a: { section: 'Errors' },
    b: { section: '4.10' },
    c: { section: '4.2' },
    d: { section: 'Errors' },
  };
  const { results } = await runOn(t, sections);
  assert.deepEqual(
    results.map(({ id }) => id),
    ['c', 'b', 'a', 'd'],
  );
});
