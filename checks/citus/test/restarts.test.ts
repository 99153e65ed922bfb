/** All nodes are restarted in turn under load: the workers, then the coordinator. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { wholeFile } from '../../../packages/testkit/servers/postgres.ts';
import { assertRecovered, type Sample, startLoad } from './scene/load.ts';
import { startStage } from './scene/stage.ts';

interface Restart {
  readonly port: number;
  readonly stopMs: number;
  readonly backMs: number;
  readonly untilMs: number;
}

const nodes = ['the first worker', 'the second worker', 'the coordinator'];
const restarts: Restart[] = [];
let samples: readonly Sample[];

before(async () => {
  const stage = await startStage();
  const { coordinator, workers } = stage.cluster;
  const { port } = await stage.serve(wholeFile);
  const load = startLoad(port, stage.targets);
  await wait(1_500);
  for (const node of [...workers, coordinator]) {
    const stopMs = performance.now();
    await node.stop('fast');
    // Longer than the statements that were running.
    await wait(1_500);
    await node.start();
    const backMs = performance.now();
    await wait(2_500);
    restarts.push({ port: node.port, stopMs, backMs, untilMs: performance.now() });
  }
  samples = await load.stop();
});

for (const [index, node] of nodes.entries()) {
  test(`${node} is restarted: nothing is refused but its rows, and 1 s after its return nothing`, (t) => {
    const { port, stopMs, backMs, untilMs } = restarts[index]!;
    const meanwhile = samples.filter(({ sentMs, tookMs }) => sentMs > stopMs && sentMs + tookMs < untilMs);
    const refused = meanwhile.filter(({ isPage }) => !isPage);
    assert.ok(refused.length > 10);
    assertRecovered(t, meanwhile, backMs);
    // All rows are read through the coordinator.
    if (node.endsWith('worker')) assert.ok(refused.every(({ target }) => target.port === port));
  });
}
