/** How a run treats its cases, whatever they do. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { serveHttp } from '../../../operator/test/images/image-host.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { type Case, settled } from '../../src/conformance/case.ts';
import type { Supplied } from '../../src/conformance/probe.ts';
import { nobody, type Probe } from '../../src/conformance/probe.ts';
import { runCases } from '../../src/conformance/run.ts';
import { Failure, Skip } from '../../src/conformance/send.ts';

const supplied: Supplied = { PARTNER_NETWORK_API_KEY: keys.acme, PARTNER_NETWORK_CUSTOMER_ID: 'customer-1' };

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly rawHeaders: readonly string[];
}

/** Runs cases against a server that answers every request with the same page, and notes the requests. */
async function runOn(
  t: TestContext,
  checks: Readonly<Record<string, (probe: Probe) => Promise<unknown>>>,
  sections: Readonly<Record<string, string>> = {},
) {
  const requests: Seen[] = [];
  const address = await serveHttp(t, ({ method, url, rawHeaders }, response) => {
    requests.push({ method, url, rawHeaders });
    response.end('{"brands":[{"name":"secret"}]}');
  });
  const cases = Object.entries(checks).map(([id, check]) => {
    const section = sections[id] ?? '1';
    return { id, section, promise: id, check: check as Case['check'] } as const;
  });
  const expectedFailures = new Set(['expected']);
  const results = await runCases(cases, {
    baseUrl: `${address}/network/v1`,
    supplied,
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
  const fail = async (probe: Probe) => {
    const answer = await probe.send({ path: '/brands?customer_id=customer-1' });
    throw new Failure(`nothing of customer-1 or ${keys.zenith}`, { cause: answer });
  };
  const grant = (probe: Probe) => probe.value('PARTNER_NETWORK_GRANT_ID');
  const { byId, requests } = await runOn(t, {
    passed: async () => {},
    failed: fail,
    expected: fail,
    returned: (probe) => probe.send({ path: '/brands' }),
    broken: async (probe) => {
      const { json } = await probe.send({ path: '/brands' });
      JSON.parse(`${JSON.stringify(json)} secret`);
    },
    skipped: async () => {
      throw new Skip('more brands than customer-1 has');
    },
    needy: (probe) => probe.send({ path: '/needy', query: { grant_id: grant } }),
    burst: (probe) => probe.burst(2, { path: '/burst' }, 60_000),
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
  assert.equal(byId.returned!.expected, 'an answer that keeps the promise');
  assert.equal(byId.broken!.expected, 'an answer that the case can read (SyntaxError)');
  assert.doesNotMatch(JSON.stringify(byId), /secret/);
  assert.deepEqual(
    [byId.passed!.status, byId.skipped!.variable, byId.needy!.variable, byId.burst!.variable],
    ['passed', 'more brands than $PARTNER_NETWORK_CUSTOMER_ID has', 'PARTNER_NETWORK_GRANT_ID', '--burst'],
  );
  assert.equal(requests.length, 4, 'a case that lacks something sends nothing');
});

test('requests are sent as the case says', async (t) => {
  const { requests, byId } = await runOn(t, {
    all: async (probe) => {
      const query = { a: 'x &', b: undefined, c: async () => '1' };
      await probe.send({ method: 'POST', path: '/brands', query, as: nobody });
      await probe.send({ path: '/x?raw=%zz', as: () => 'Basic x' });
      await probe.send({
        lines: () => ['GET /raw HTTP/1.1', 'Host: x', `Authorization: Bearer ${keys.acme}`],
      });
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
    ['POST /network/v1/brands?a=x%20%26&c=1', 'GET /network/v1/x?raw=%zz', 'GET /raw'],
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

test('before a case fails, it looks once more with new answers: data may change between two', async (t) => {
  /** Finds a broken promise in some of its looks. The first look uses what an earlier case made. */
  const brokenAt = (...broken: readonly number[]) => {
    let looks = 0;
    const look = async () => (looks += 1);
    return async (probe: Probe) => {
      await probe.once(`broken at ${broken}`, look);
      return settled(async ({ once, answers }) =>
        broken.includes(await once(`broken at ${broken}`, look)) ? answers[0] : undefined,
      )(probe);
    };
  };
  const { byId } = await runOn(t, { changed: brokenAt(1), broken: brokenAt(1, 2), kept: brokenAt(2) });
  assert.deepEqual(
    [byId.changed!.status, byId.broken!.status, byId.kept!.status],
    ['passed', 'failed', 'passed'],
  );
});

test('the report is in the order of sections', async (t) => {
  const sections = { a: 'Errors', b: '4.10', c: '4.2', d: 'Errors' };
  const pass = async () => {};
  const { results } = await runOn(t, { a: pass, b: pass, c: pass, d: pass }, sections);
  assert.deepEqual(
    results.map(({ id }) => id),
    ['c', 'b', 'a', 'd'],
  );
});
