/** Loses a region, goes on in the other, and goes back; runs the commands of the page for operators. */
import { setTimeout as wait } from 'node:timers/promises';
import { flag, wholeNumber } from '../../packages/common/src/command-line/options.ts';
import { caughtUp, withoutOwnServers } from '../../packages/testkit/servers/postgres-start.ts';
import { needsOwnRedis } from '../../packages/testkit/servers/redis.ts';
import { print, runProgram, withDefault } from '../lib/program.ts';
import { balancesOf, brands, msUntil, secondPage, startClients, statusOf } from './clients.ts';
import {
  areKept,
  countOf,
  figure,
  giveAccess,
  measureNormal,
  measureRevocations,
  ms,
  seconds,
  startWriter,
} from './promises.ts';
import { openWorld, type Stage, startStage } from './stage.ts';

const about = `
Starts two regions with a delay between them, each with a Postgres, a Redis and an instance: a primary, and a
standby that the second region reads brands from. Measures which promises hold across the regions. Then cuts
off the first region under load, promotes the standby, repeats what was lost, makes the old primary a standby
and goes back. Runs the commands of docs/how-to/operators/second-region.md. Ends with status 1 if a promise of
that page is broken.`;

/** The time from the cut to the promotion, in which people decide. */
const decisionMs = 10_000;
/** What doctor says of both servers as they should be. */
const inOrder = /^✓ database .* as the primary\. A standby.*✓ replicas /ms;

/** The milliseconds until an instance answers both listings. */
async function msUntilServed(port: number, sinceMs: number): Promise<number> {
  const paths = [brands, balancesOf('alice')];
  const ask = (path: string) => msUntil(200, sinceMs, () => statusOf(port, path));
  return Math.max(...(await Promise.all(paths.map(ask))));
}

/** Cuts off the first region under load, promotes the standby, and repeats what was lost. */
async function failOver(stage: Stage, { synchronous }: Flags): Promise<void> {
  const { first, second, one, two, ports, commands } = stage;
  const store = await openWorld(first.url());
  const lost = await giveAccess(store, 'lost');
  await caughtUp(second, first);
  const writer = startWriter(store, 'writer');
  const clients = startClients(ports, 8);
  await wait(5_000);
  figure('a commit in region 1', ms(writer.usualMs()));

  const page = await secondPage(one.port);
  const cutMs = performance.now();
  stage.cutOff();
  const readiness = () => two.isReady().then((isReady) => (isReady ? 200 : 503));
  figure('region 1 is cut off: region 2 is not ready after', ms(await msUntil(503, cutMs, readiness)));
  const refuses = () => statusOf(two.port, brands);
  figure('region 2 refuses brands, too, after', ms(await msUntil(503, cutMs, refuses)));
  // With a synchronous standby these wait for it, as every commit does.
  if (!synchronous) await Promise.all([lost.revokeKey(store), lost.revokeGrant(store)]);
  await wait(Math.max(0, cutMs + decisionMs - performance.now()));

  const promoteMs = performance.now();
  await commands.next(/ t\n/, [first.port, second.port]);
  figure('the command that promotes took', ms(performance.now() - promoteMs));
  figure('region 2 serves all, after the command began', ms(await msUntilServed(two.port, promoteMs)));
  await wait(4_000);
  const opened = await statusOf(two.port, page);
  figure('a cursor of region 1: region 2 answers', String(opened), opened === 200);
  const { failed, silent, lastMs } = clients.failuresSince(cutMs);
  figure('time with refusals, from the cut', seconds(lastMs), lastMs < decisionMs + 4_000);
  figure('requests of 8 clients that failed (without an answer)', `${failed} (${silent})`);

  const before = writer.commitsMs.filter((atMs) => atMs < cutMs).length;
  const kept = Math.min(before, await countOf(second.url(), 'writer'));
  const [missing, after] = [before - kept, writer.commitsMs.length - before];
  const age = missing === 0 ? 0 : cutMs - writer.commitsMs[kept]!;
  const isKept = !synchronous || missing + after === 0;
  figure('changes confirmed before the cut that are lost', `${missing}, of the last ${ms(age)}`, isKept);
  figure('changes confirmed in region 1 after the cut, all lost', String(after), isKept);

  await commands.next(/^! database /m, [stage.toFirst.port, second.port]);
  const inSecond = await openWorld(second.url());
  const since = await giveAccess(inSecond, 'since');
  await since.revokeKey(inSecond);
  await inSecond.close();
  // Both have the key of the fixture. Only the old primary admits the key that the new one revoked.
  figure('region 1 is cut off, but runs: it answers', String(await statusOf(one.port, brands)));
  const answers = async () => [await lost.askByKey(two.port), await lost.askByGrant(two.port)].join(', ');
  if (!synchronous)
    figure('key and grant that region 1 revoked after the cut: region 2 answers', await answers());
  // Ends the commit that waits for the lost standby.
  if (synchronous) await stage.setSynchronous('');
  await Promise.all([clients.stop(), writer.stop()]);
  await store.close();
  await one.terminate();
  await commands.next(/ rejected/, [first.port, second.port]);
  await wait(1_000);
  const repeated = await answers();
  if (!synchronous)
    figure('the same after the lost changes were repeated', repeated, repeated === '401, 403');
}

/** Makes the old primary a standby, and then the primary again. */
async function goBack({ commands, ...stage }: Stage): Promise<void> {
  const { first, second, one, two, seenFrom, ports } = stage;
  stage.reconnect();
  await stage.stopFirst();
  const rewindMs = performance.now();
  await commands.next(/^CHECKPOINT\n$/, seenFrom.first, first.folder);
  await stage.startFirst();
  await caughtUp(first, second);
  figure('pg_rewind, start and catching up took', seconds(performance.now() - rewindMs));
  await one.start();
  await commands.next(new RegExp(`${inOrder.source}.* the primary now`, 'ms'), seenFrom.second);

  const both = `127.0.0.1:${first.port},127.0.0.1:${second.port}`;
  const store = await openWorld(`postgres://postgres@${both}/postgres`);
  const writer = startWriter(store, 'returning');
  const clients = startClients(ports, 8);
  await wait(2_000);
  const backMs = performance.now();
  await second.stop();
  await commands.next(/ t\n/, [first.port, second.port]);
  const served = ports.map((port) => msUntilServed(port, backMs));
  figure('back to region 1: both regions serve all after', ms(Math.max(...(await Promise.all(served)))));
  await commands.next(/^$/, [], second.folder);
  await second.start();
  await caughtUp(second, first);
  await wait(4_000);
  const { failed, lastMs } = clients.failuresSince(backMs);
  figure('time with refusals, and requests that failed', `${seconds(lastMs)}, ${failed}`, lastMs < 10_000);
  await Promise.all([clients.stop(), writer.stop()]);
  await store.close();
  const missing = writer.commitsMs.length - (await countOf(first.url(), 'returning'));
  figure('changes confirmed that are lost', `${missing} of ${writer.commitsMs.length}`, missing === 0);
  const uses = /^partner_network_replica_used\S* 1$/m;
  const isNear = () => two.metrics().then((text) => (uses.test(text) ? 200 : 503));
  figure('region 2 reads brands near again after', ms(await msUntil(200, backMs, isNear)));
}

async function drill(flags: Flags): Promise<boolean> {
  const stage = await startStage(flags.delay, flags.synchronous);
  await stage.commands.next(inOrder, stage.seenFrom.second);
  const commits = flags.synchronous ? 'Commits wait for the standby' : 'Commits do not wait for the standby';
  print(`Between the regions: ${flags.delay} ms there and back. ${commits}.`);
  await measureNormal(stage);
  await measureRevocations(stage);
  await failOver(stage, flags);
  await goBack(stage);
  stage.commands.end();
  return areKept();
}

interface Flags {
  readonly delay: number;
  readonly synchronous: boolean;
}

await runProgram({
  usage: 'npm run check -- region',
  about,
  options: {
    delay: withDefault('MS', wholeNumber(0, 1_000), 40, 'time from one region to the other and back'),
    synchronous: flag('commits wait until the standby has them'),
  },
  missing: () => withoutOwnServers() || needsOwnRedis.skip,
  run: drill,
});
