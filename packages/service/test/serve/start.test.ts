/** What a start loads. How long it takes is measured by the bench. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { createCaller } from '../../../testkit/fixtures/http.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { serve, withPartners } from '../../../testkit/fixtures/run.ts';
import { fixtureLine, serveSandbox } from '../../../testkit/fixtures/served.ts';
import { testedPackage } from '../../../testkit/package/tested.ts';

const preload = new URL('../../../testkit/watch/loaded-modules.ts', import.meta.url).href;

/** Modules that the first response from an embedded database does not need. */
const unneeded = [
  // The client behind fetch: a named import of node:http loads it, which takes 14 to 22 % of a start.
  /internal\/deps\/undici/,
  /node_modules\/(pg|pg-copy-streams|ioredis)\//,
  /src\/tracing\/collector/,
  /contract\/src\/openapi/,
  /src\/commands\/(?!(serve|table)\.ts)/,
  /src\/(ingest|images|demo|doctor|serve\/workers)\//,
  /store\/src\/postgres\//,
  /src\/site\/(operation|search)\./,
  /limiter\/redis\/(?!url)/,
  /store\/src\/sqlite\/imports\//,
  /\/rehearsals\//,
];

test('loads nothing that the first response does not need; production has no rehearsals', async (t) => {
  const line = await withPartners(t, ['acme']);
  const { key } = await line.json<{ key: string }>(
    'keys',
    'create',
    '--partner',
    'acme',
    '--scope',
    'BRANDS_READ',
  );
  const flags = ['--database', line.database, '--environment', 'production', '--drain-delay', '0'];
  const served = await serve(t, flags, { variables: { NODE_OPTIONS: `--import=${preload}` } });
  const { brands, raw, disconnect } = createCaller(served.port);
  t.after(disconnect);
  assert.equal((await brands('', { key })).status, 200);
  const bytesOf = async (path: string) => {
    const received = await raw(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    return received.replace(/^(X-Request-Id|Date): .*$/gm, '$1');
  };
  for (const [nowhere, ...paths] of [
    ['/nowhere', '/rehearsals', '/rehearsals/steady.a'],
    ['/nowhere/network/v1/brands', '/rehearsals/steady/network/v1/brands'],
  ]) {
    const unknown = await bytesOf(nowhere!);
    assert.match(unknown, /^HTTP\/1\.1 404 /);
    for (const path of paths) assert.equal(await bytesOf(path), unknown, path);
  }
  served.signal('SIGINT');
  await served.ended;
  const loaded: string[] = JSON.parse(served.texts().stderr.trimEnd().split('\n').at(-1)!);
  for (const needed of [/(serve\/service\.ts|dist\/main\.js)$/, /^NativeModule http$/]) {
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
  const count = globSync('*/????????', { cwd: cache }).length;
  assert.ok(count > (testedPackage() === undefined ? 100 : 1), `${count} files`);
});
