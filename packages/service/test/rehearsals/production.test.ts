/** Production has no rehearsals, and loads nothing of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCaller } from '../../../testkit/fixtures/http.ts';
import { serve, withPartners } from '../../../testkit/fixtures/run.ts';

const preload = new URL('../../../testkit/watch/loaded-modules.ts', import.meta.url).href;

test('the paths of rehearsals are unknown, byte for byte, and no file of them is loaded', async (t) => {
  const { database } = await withPartners(t, ['acme']);
  const variables = { NODE_OPTIONS: `--import=${preload}` };
  const flags = ['--database', database, '--environment', 'production', '--drain-delay', '0'];
  const served = await serve(t, flags, { variables });
  const { raw } = createCaller(served.port);
  const bytesOf = async (path: string) => {
    const received = await raw(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    return received.replace(/^(X-Request-Id|Date): .*$/gm, '$1');
  };
  const unknown = await bytesOf('/nowhere');
  assert.match(unknown, /^HTTP\/1\.1 404 /);
  for (const path of ['/rehearsals', '/rehearsals/steady.a', '/rehearsals/steady/network/v1/brands']) {
    assert.equal(await bytesOf(path), unknown, path);
  }
  served.signal('SIGINT');
  await served.ended;
  const loaded: string[] = JSON.parse(served.texts().stderr.trimEnd().split('\n').at(-1)!);
  assert.ok(loaded.some((name) => /src\/serve\/service\.[jt]s$/.test(name)));
  assert.deepEqual(
    loaded.filter((name) => /\/rehearsals\//.test(name)),
    [],
  );
});
