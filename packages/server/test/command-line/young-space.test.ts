import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { commandLineBounds } from '../../src/bounds/command-line.ts';
import { boundYoungSpace } from '../../src/command-line/young-space.ts';

const youngBytes = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')!.space_size;

/** Objects of which a few thousand are needed at a time, as by requests under way. */
async function work(): Promise<void> {
  const underWay: object[] = [];
  for (let round = 0; round < 400; round += 1) {
    for (let number = 0; number < 1_000; number += 1) {
      underWay[(round * 1_000 + number) % 20_000] = { round, text: `answer ${number}` };
    }
    await turn();
  }
}

/** As V8 does it now and then when there is little to do. */
async function shrink(): Promise<void> {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')({ type: 'major', flavor: 'last-resort' });
  await turn();
}

test('lets the space for new objects grow as far as requests need it, and no further', async () => {
  boundYoungSpace();
  await work();
  assert.equal(youngBytes(), commandLineBounds.youngSpaceBytes);
  await shrink();
  assert.ok(youngBytes() < commandLineBounds.youngSpaceBytes);
  await work();
  assert.equal(youngBytes(), commandLineBounds.youngSpaceBytes);
});
