/** How long runs are kept, and how many. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { createRuns } from '../../src/rehearsals/runs.ts';
import { rehearsalsBounds } from '../../src/rehearsals/scenarios.ts';
import { brands, verdictOf } from './client.ts';

const minute = 60_000;

test('partners see only their own runs, also of the same name', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  const run = `/rehearsals/server-error.ci${brands}`;
  const first = await service.call(run, { key: keys.acme });
  assert.equal(first.status, 200);
  assert.equal((await service.call(run, { key: keys.zenith })).status, 200, 'counters are apart');
  assert.equal((await service.call(run, { key: keys.acme })).status, 500);
  assert.equal((await verdictOf(service, 'server-error.ci')).requests.length, 2);
  assert.equal((await verdictOf(service, 'server-error.ci', keys.zenith)).requests.length, 1);
  for (const other of ['server-error.other', 'steady.ci'])
    assert.equal((await verdictOf(service, other)).requests.length, 0, other);
  // Any key of the partner will do.
  const { requests } = await verdictOf(service, 'server-error.ci', keys.acmeBalancesOnly);
  assert.deepEqual(
    requests.map(({ method, path, status }) => [method, path, status]),
    [200, 500].map((status) => ['GET', brands, status]),
  );
});

test('a run that was never seen has no requests', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  const verdict = await verdictOf(service, 'torn.never');
  assert.deepEqual([verdict.scenario, verdict.run, verdict.requests], ['torn', 'never', []]);
  assert.equal(verdict.promises.length, 7);
});

test('a run is forgotten after 10 minutes without a request', async (t) => {
  let now = Date.UTC(2026, 0, 1);
  const service = await startTestService(t, { rehearsals: {}, nowMs: () => now });
  const use = () => service.call(`/rehearsals/steady${brands}`, { key: keys.acme });
  await use();
  now += 10 * minute - 1;
  await use();
  now += 10 * minute - 1;
  const { requests } = await verdictOf(service, 'steady');
  assert.deepEqual(
    requests.map(({ at }) => at),
    ['2026-01-01T00:00:00.000Z', '2026-01-01T00:09:59.999Z'],
  );
  now += 10 * minute;
  assert.equal((await verdictOf(service, 'steady')).requests.length, 0);
});

test('the last 1,000 requests of a run are kept', () => {
  const runs = createRuns(rehearsalsBounds, () => 0);
  const run = runs.open('long');
  for (let number = 1; number <= 1_500; number += 1) runs.add(run, 'GET', `/${number}`, 0);
  assert.equal(run.requests.length, 1_000);
  assert.deepEqual([run.requests[0]!.path, run.requests.at(-1)!.path], ['/501', '/1500']);
});

test('of more than 100,000 requests, the longest idle runs are forgotten', () => {
  const runs = createRuns({ ...rehearsalsBounds, requests: 100, runRequests: 60 }, () => 0);
  const fill = (name: string) => {
    for (let number = 0; number < 60; number += 1) runs.add(runs.open(name), 'GET', '/', 0);
  };
  const kept = (name: string) => runs.open(name).requests.length;
  fill('one');
  fill('two');
  assert.deepEqual([kept('one'), kept('two')], [0, 60]);
  fill('two');
  assert.equal(kept('two'), 60, 'requests that are dropped are not counted');
});

test('a path is cut, and keeps nothing of the long one', () => {
  const runs = createRuns(rehearsalsBounds, () => 0);
  const { path } = runs.add(runs.open('x'), 'GET', `/${'é'.repeat(5_000)}`, 0);
  assert.equal(path, `/${'é'.repeat(1_199)}`);
});
