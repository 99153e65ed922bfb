import { type TestContext, test } from 'node:test';
import {
  type PostgresServer,
  promote,
  startPostgres,
  startStandby,
  withoutOwnServers,
} from '../support/postgres.ts';
import { fill, serveOn, startLoad } from './under-load.ts';

const skip = withoutOwnServers();
const timeout = 60_000;

interface Pair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** Both addresses, the primary's first. */
  readonly url: string;
}

async function startPair(t: TestContext): Promise<Pair> {
  const primary = await startPostgres(t);
  await fill(primary.url());
  const standby = await startStandby(t, primary);
  const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`;
  return { primary, standby, url };
}

for (const [promise, end] of [
  ['a primary that is killed', (primary: PostgresServer) => primary.kill()],
  ['a primary that freezes', (primary: PostgresServer) => primary.freeze()],
] as const) {
  test(`${promise} is followed by the standby that is promoted`, { skip, timeout }, async (t) => {
    const { primary, standby, url } = await startPair(t);
    const load = await startLoad(t, await serveOn(t, url));
    await load.next(({ isRight }) => isRight);
    await end(primary);
    await load.next(({ isRight }) => !isRight);
    await promote(standby);
    await load.resumes(performance.now());
    await load.stop();
  });
}

test('the primary is found at whichever address it is', { skip, timeout }, async (t) => {
  const { primary, standby } = await startPair(t);
  const url = `postgres://postgres@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`;
  const load = await startLoad(t, await serveOn(t, url));
  await load.next(({ isRight }) => isRight);
  await primary.kill();
  await load.next(({ isRight }) => !isRight);
  await primary.start();
  await load.resumes(performance.now());
  await load.stop();
});
