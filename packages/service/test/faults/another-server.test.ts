/** The database's host name or proxy can lead to another server later. */
import assert from 'node:assert/strict';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertUnavailable } from '../../../testkit/fixtures/http.ts';
import type { ServedSandbox } from '../../../testkit/fixtures/served.ts';
import { startNetwork } from '../../../testkit/servers/network.ts';
import { promote, startPostgres } from '../../../testkit/servers/postgres.ts';
import { hangUpOnService, rename, startPair } from './scene/pair.ts';
import {
  faultTest,
  fill,
  loadOn,
  rareFaultTest,
  resumeMs,
  serveOn,
  startFilled,
  startLoad,
} from './scene/under-load.ts';

for (const [ending, how] of [
  ['hangUp', 'is cut'],
  ['forget', 'stays silent'],
] as const) {
  rareFaultTest(
    `an address that moves to the new primary is followed, when the old connection ${how}`,
    async (t) => {
      const { primary, standby } = await startPair(t);
      const network = await startNetwork(t, primary);
      const load = await loadOn(t, network.url);
      network.fallSilent();
      await promote(standby);
      network.leadTo(standby);
      network[ending]();
      await load.recovers();
    },
  );
}

rareFaultTest('once a connection leads to the new primary, the old primary is not used', async (t) => {
  const { primary, standby } = await startPair(t);
  const network = await startNetwork(t, primary);
  const { brands } = await serveOn(t, network.url, '--connections', '4');
  const ask = () => brands('?limit=1', { key: keys.acme });
  await Promise.all(Array.from({ length: 4 }, ask));

  // The old primary keeps running, and so do the connections to it.
  await promote(standby);
  await rename(t, standby, 'promoted');
  network.leadTo(standby);
  // The newest connection, so not the one of the primary watch.
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
    assert.ok(performance.now() - sinceMs < resumeMs, 'the old primary is left in time');
  }
});

async function assertAllUnavailable({ brands, balances, operationsUrl }: ServedSandbox): Promise<void> {
  const untilMs = performance.now() + 1_000;
  while (performance.now() < untilMs) {
    const answers = [
      brands('', { key: keys.acme }),
      balances('?customer_id=alice&type=CHECKING', { key: keys.acme }),
      brands('', { key: keys.neverIssued }),
    ];
    for (const answer of await Promise.all(answers)) assertUnavailable(answer);
    assert.equal((await fetch(`${operationsUrl}/readyz`)).status, 503);
  }
}

for (const [which, define, fillOther] of [
  ['of the other environment', faultTest, (url: string) => fill(url, 'production')],
  ['that is not ours', rareFaultTest, async () => {}],
] as const) {
  define(`a database ${which} behind the same address gives no answer, not even a 401`, async (t) => {
    const server = await startFilled(t);
    const other = await startPostgres(t);
    await fillOther(other.url());
    const network = await startNetwork(t, server);
    const served = await serveOn(t, network.url);
    const load = await startLoad(t, served);
    network.leadTo(other);
    network.hangUp();
    await assertAllUnavailable(served);
    network.leadTo(server);
    await load.recovers();
  });
}

rareFaultTest('a standby behind the same address gives no answer until it is promoted', async (t) => {
  const { primary, standby } = await startPair(t);
  const network = await startNetwork(t, primary);
  const served = await serveOn(t, network.url);
  const load = await startLoad(t, served);
  await primary.kill();
  network.leadTo(standby);
  await assertAllUnavailable(served);
  await promote(standby);
  await load.recovers();
});
