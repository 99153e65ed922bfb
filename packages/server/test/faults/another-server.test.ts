/** A name or a proxy that leads to the database can come to lead to another server. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertUnavailable } from '../../../testkit/fixtures/http.ts';
import {
  type PostgresServer,
  promote,
  startPostgres,
  withoutOwnServers,
} from '../../../testkit/servers/postgres.ts';
import { amongAllOnly } from './scene/all-faults.ts';
import { startNetwork } from './scene/network.ts';
import { hangUpOnService, rename, startPair } from './scene/pair.ts';
import { fill, resumeMs, type Served, serveOn, startLoad } from './scene/under-load.ts';

const skip = withoutOwnServers();
const timeout = 60_000;

for (const [ending, how] of [
  ['hangUp', 'is cut'],
  ['forget', 'stays silent'],
] as const) {
  test(`an address that moves to the new primary is followed, when the old way ${how}`, {
    skip: skip || amongAllOnly,
    timeout,
  }, async (t) => {
    const { primary, standby } = await startPair(t);
    const network = await startNetwork(t, primary);
    const load = await startLoad(t, await serveOn(t, network.url));
    network.fallSilent();
    await promote(standby);
    network.leadTo(standby);
    network[ending]();
    await load.resumes(performance.now());
    await load.stop();
  });
}

test('when one connection leads to the new primary, none is used that leads to the old one', {
  skip: skip || amongAllOnly,
  timeout,
}, async (t) => {
  const { primary, standby } = await startPair(t);
  const network = await startNetwork(t, primary);
  const { caller } = await serveOn(t, network.url, '--connections', '4');
  const ask = () => caller.brands('?limit=1', { key: keys.acme });
  await Promise.all(Array.from({ length: 4 }, ask));

  // The old one lives on, and so do the connections to it.
  await promote(standby);
  await rename(t, standby, 'promoted');
  network.leadTo(standby);
  // Which is not the one that watches: that was there before the others.
  await hangUpOnService(t, primary, 1);
  const sinceMs = performance.now();
  let names: (string | undefined)[] = [];
  while (names.some((name) => name !== 'promoted') || names.length === 0) {
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    names = answers.map((answer) => {
      if (answer.status === 200) return JSON.parse(answer.text).brands[0].name;
      assertUnavailable(answer);
      return undefined;
    });
    assert.ok(performance.now() - sinceMs < resumeMs, 'the old one is left in time');
  }
});

async function answersNobody({ caller, operationsUrl }: Served): Promise<void> {
  const untilMs = performance.now() + 1_000;
  while (performance.now() < untilMs) {
    const answers = [
      caller.brands('', { key: keys.acme }),
      caller.balances('?customer_id=alice&type=CHECKING', { key: keys.acme }),
      caller.brands('', { key: keys.neverIssued }),
    ];
    for (const answer of await Promise.all(answers)) assertUnavailable(answer);
    assert.equal((await fetch(`${operationsUrl}/readyz`)).status, 503);
  }
}

const strangers: Record<string, (t: TestContext, primary: PostgresServer) => Promise<PostgresServer>> = {
  'of the other environment': async (t) => {
    const other = await startPostgres(t);
    await fill(other.url(), 'production');
    return other;
  },
  'that is not ours': (t) => startPostgres(t),
};

for (const [which, startOther] of Object.entries(strangers)) {
  test(`a database ${which} behind the same address gives nobody an answer, not even a 401`, {
    skip: skip || (which === 'that is not ours' && amongAllOnly),
    timeout,
  }, async (t) => {
    const server = await startPostgres(t);
    await fill(server.url());
    const other = await startOther(t, server);
    const network = await startNetwork(t, server);
    const served = await serveOn(t, network.url);
    const load = await startLoad(t, served);
    network.leadTo(other);
    network.hangUp();
    await answersNobody(served);
    network.leadTo(server);
    await load.resumes(performance.now());
    await load.stop();
  });
}

test('a standby behind the same address gives nobody an answer until it is promoted', {
  skip: skip || amongAllOnly,
  timeout,
}, async (t) => {
  const { primary, standby } = await startPair(t);
  const network = await startNetwork(t, primary);
  const served = await serveOn(t, network.url);
  const load = await startLoad(t, served);
  await primary.kill();
  network.leadTo(standby);
  await answersNobody(served);
  await promote(standby);
  await load.resumes(performance.now());
  await load.stop();
});
