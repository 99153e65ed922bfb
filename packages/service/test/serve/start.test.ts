/** What a start loads. How long it takes is measured by the bench. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { fixtureLine, serveSandbox } from '../../../testkit/fixtures/served.ts';

const preload = new URL('../../../testkit/watch/loaded-modules.ts', import.meta.url).href;

/** Modules that the first response from an embedded database does not need. */
const unneeded = [
  // The client behind fetch: a named import of node:http loads it, which takes 14 to 22 % of a start.
  /internal\/deps\/undici/,
  /node_modules\/(pg|pg-copy-streams|ioredis|@opentelemetry)\//,
  /contract\/src\/openapi/,
  /src\/commands\/(?!(serve|table)\.[jt]s)/,
  /src\/(ingest|images|demo|doctor|serve\/workers)\//,
  /store\/src\/postgres\//,
  /src\/reference\/guides/,
  /limiter\/redis\/(?!url)/,
  /store\/src\/sqlite\/imports\//,
];

test('loads nothing that the first response does not need', { timeout: 120_000 }, async (t) => {
  const { database } = await fixtureLine(t);
  const variables = { NODE_OPTIONS: `--import=${preload}` };
  const served = await serveSandbox(t, database, [], { variables });
  assert.equal((await served.brands('', { key: keys.acme })).status, 200);
  served.signal('SIGINT');
  await served.ended;
  const loaded: string[] = JSON.parse(served.texts().stderr.trimEnd().split('\n').at(-1)!);
  for (const needed of [/serve\/service\.[jt]s$/, /^NativeModule http$/]) {
    assert.ok(
      loaded.some((name) => needed.test(name)),
      `no loaded module matches ${needed}`,
    );
  }
  assert.deepEqual(
    loaded.filter((name) => unneeded.some((form) => form.test(name))),
    [],
  );
});

/** Fills the space for new objects as far as it can grow, and prints its size in MiB. */
const printNewSpace = `
  import { getHeapSpaceStatistics } from 'node:v8';
  process.on('exit', () => {
    const kept = [];
    for (let number = 0; number < 2_000_000; number += 1) kept[number % 60_000] = { text: 'x' + number };
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    console.error('new space: ' + space.space_size / 1_048_576);
  });`;

test('serve keeps the space for new objects at 8 MiB, an eighth of what V8 allows', async (t) => {
  const variables = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(printNewSpace)}` };
  const { database } = await fixtureLine(t);
  const served = await serveSandbox(t, database, [], { variables });
  served.signal('SIGINT');
  await served.says('stderr', /^new space: 8$/m);
});

test('a killed process keeps its compiled code for the next start', async (t) => {
  const cache = temporaryFolder(t);
  const { database } = await fixtureLine(t);
  const served = await serveSandbox(t, database, [], { variables: { NODE_COMPILE_CACHE: cache } });
  served.signal('SIGKILL');
  await served.ended;
  // Files of a write that is under way have longer names.
  assert.ok(globSync('*/????????', { cwd: cache }).length > 100);
});
