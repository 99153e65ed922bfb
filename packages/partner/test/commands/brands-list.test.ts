import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { authBounds } from '../../../common/src/bounds/service.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { run, spawnCommand, start } from '../../../testkit/fixtures/run.ts';
import { listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { holdSecondPage, partnerVariables } from '../../../testkit/service/partner.ts';
import { startTestService } from '../../../testkit/service/service.ts';

const list = ['brands', 'list'];

test('a pipe gets one line per record as the service sent it, and a remark if there are more', async (t) => {
  const service = await startTestService(t);
  const variables = partnerVariables(service.port);
  const page = await run([...list, '--limit', '2'], { variables });
  const { text } = await service.brands('?limit=2', { key: keys.acme });
  assert.ok(text.startsWith(`{"brands":[${page.stdout.trimEnd().replaceAll('\n', ',')}],"cursor":`));
  assert.match(page.stderr, /^There are more brands\. --all lists every page, .*\n$/);
  assert.equal(page.status, 0);

  const all = await run([...list, '--all', '--limit', '1'], { variables });
  const ids = all.stdout.trimEnd().split('\n');
  assert.deepEqual([ids.map((line) => JSON.parse(line).id), all.stderr], [['b1', 'b2', 'b3'], '']);
});

test('--json prints one document in the shape of an answer, for one page or for all', async (t) => {
  const { port } = await startTestService(t);
  const json = async (...words: string[]) => {
    const { status, stdout, stderr } = await run([...list, '--json', ...words], {
      variables: partnerVariables(port),
    });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    const { brands, cursor } = JSON.parse(stdout);
    return { ids: brands.map(({ id }: { id: string }) => id), cursor };
  };
  const first = await json('--limit', '2');
  assert.deepEqual(first.ids, ['b1', 'b2']);
  assert.deepEqual(await json('--cursor', first.cursor), { ids: ['b3'], cursor: undefined });
  const shared = await json('--reference-id', 'shared', '--all', '--limit', '1');
  assert.deepEqual(shared, { ids: ['b2', 'b3'], cursor: undefined });
  assert.deepEqual(await json('--reference-id', 'of nobody'), { ids: [], cursor: undefined });
});

test('requests no more pages if the reader of the pipe stops, and exits with 0', async (t) => {
  const held = holdSecondPage();
  const { port } = await startTestService(t, { reads: held.reads });
  const child = spawnCommand([...list, '--all', '--limit', '1'], { variables: partnerVariables(port) });
  let stderr = '';
  child.stderr.on('data', (text) => (stderr += text));
  await once(child.stdout, 'data');
  child.stdout.destroy();
  await once(child.stdout, 'close');
  held.release();
  const [status] = await once(child, 'close');
  assert.deepEqual({ status, stderr, pages: held.pages() }, { status: 0, stderr: '', pages: 2 });
});

test('if a page is refused, says that the output is incomplete, and why', async (t) => {
  let requests = 0;
  const service = await startTestService(t, {
    reads: async ({ store }) => ({
      ...store,
      findKey: async (digest) => (++requests === 1 ? store.findKey(digest) : undefined),
      // As long as a good key is cached.
      listBrands: (query) => wait(authBounds.keyCacheMs).then(() => store.listBrands(query)),
    }),
  });
  const { status, stdout, stderr } = await run([...list, '--all', '--limit', '1'], {
    variables: partnerVariables(service.port),
  });
  assert.deepEqual([status, JSON.parse(stdout).id], [1, 'b1']);
  const [incomplete = '', ...said] = stderr.split('\n');
  assert.match(incomplete, /^The output is incomplete/);
  assert.equal(said[0], 'The service does not know this key. (UNAUTHORIZED)');
  assert.match(said[1]!, /^The service answered 401 to request [0-9a-f-]{36}\.$/);
  assert.match(
    said[2]!,
    /^The key comes from PARTNER_NETWORK_API_KEY\. Check that it is complete, and that it belongs /,
  );
  assert.deepEqual(said.slice(3), ['']);
});

test('Ctrl-C ends it at once, as a signal does, and it prints nothing', async (t) => {
  const silent = createServer(() => {});
  const running = start(t, list, { variables: partnerVariables(await listenOnAnyPort(t, silent)) });
  await once(silent, 'connection');
  running.signal('SIGINT');
  assert.equal(await running.ended, null);
  assert.deepEqual(running.texts(), { stdout: '', stderr: '' });
});
