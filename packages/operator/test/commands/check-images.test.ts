import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type CommandLine, spawnCommand, start, withPartners } from '../../../testkit/fixtures/run.ts';
import { listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { importValues } from '../../src/ingest/import.ts';
import { serveHttp } from '../images/image-host.ts';
import { jpg, png } from '../images/pictures.ts';

const check = ['brands', 'check-images', '--partner', 'acme'];

/** A command line with one brand for each of these URLs. A brand with an empty URL has no image. */
async function withImages(t: TestContext, urls: readonly string[]): Promise<CommandLine> {
  const line = await withPartners(t, ['acme']);
  const brands = urls.map((url, index) => ({
    id: `b${1_000 + index}`,
    name: 'Name',
    reference_id: 'ref',
    ...(url !== '' && { profile_image_url: url }),
  }));
  await line.inside((store) => importValues(store, 'brands', brands, 'acme'));
  return line;
}

function serveImages(t: TestContext): Promise<string> {
  return serveHttp(t, ({ url }, response) => {
    if (url?.startsWith('/logo')) response.end(jpg(512, 512));
    else if (url?.startsWith('/banner')) response.end(png(300, 100));
    else response.writeHead(404).end();
  });
}

test('lists faulty images and what to do about them, sums up, and fails', async (t) => {
  const host = await serveImages(t);
  const urls = ['/logo.png?token=secret', '/banner.png?token=secret', '/gone.png?token=secret', '/logo.png'];
  const line = await withImages(t, [...urls.map((path) => `${host}${path}`), '']);
  // The downloads must not use a proxy from the environment.
  const proxy = 'http://127.0.0.1:1';
  const variables = { HTTP_PROXY: proxy, http_proxy: proxy, NODE_USE_ENV_PROXY: '1' };
  const { status, stdout, stderr } = await line.run([...check, '--allow-private'], { variables });
  const bytes = png(300, 100).length;
  assert.equal(status, 1);
  assert.deepEqual(
    stdout.split('\n').map((row) => row.replace(/ {2,}/g, ' | ')),
    [
      'BRAND | FAULTS | WHAT TO DO | HOST | FORMAT | PIXELS | BYTES',
      'b1001 | NOT_SQUARE, TOO_SMALL | ' +
        'Crop the image to a square: it is 300 pixels wide and 100 pixels high. ' +
        `Use a larger image: it must have at least 256x256 pixels. | 127.0.0.1 | png | 300x100 | ${bytes}`,
      'b1002 | BAD_STATUS | Correct the URL or fix 127.0.0.1: it answers with status 404 instead of 200. | ' +
        '127.0.0.1 | - | - | -',
      '5 brands: 2 valid, 2 faulty, 1 without an image.',
      '',
    ],
  );
  assert.match(stderr, /^Fix the faulty images, .*\n$/);
});

test('prints one JSON document with every image under --json', async (t) => {
  const host = await serveImages(t);
  const line = await withImages(t, [`${host}/logo.png?token=secret`, '', `${host}/gone.png?token=secret`]);
  const { status, stdout } = await line.run([...check, '--allow-private', '--json']);
  assert.equal(status, 1);
  const { images, ...counts } = JSON.parse(stdout);
  assert.deepEqual(counts, { checked: 2, without_image: 1, faulty: 1 });
  const { errors, ...faulty } = images[1];
  const size = { format: 'jpg', width: 512, height: 512, bytes: jpg(512, 512).length };
  assert.deepEqual(images[0], { brand_id: 'b1000', status: 'ok', host: '127.0.0.1', ...size });
  assert.deepEqual(faulty, { brand_id: 'b1002', status: 'faulty', host: '127.0.0.1' });
  assert.deepEqual(Object.keys(errors[0]), ['code', 'detail']);
  assert.doesNotMatch(stdout, /secret/);
});

test('fails for a faulty image even if the output is not read', async (t) => {
  const line = await withImages(t, ['http://127.0.0.1:1/']);
  const child = spawnCommand([...check, '--json', '--database', line.database]);
  child.stdout.destroy();
  assert.deepEqual(await once(child, 'close'), [1, null]);
});

test('succeeds if nothing is faulty, or if there are no images', async (t) => {
  const line = await withImages(t, ['', '']);
  const { status, stdout, stderr } = await line.run(check);
  const summary = '2 brands: 0 valid, 0 faulty, 2 without an image.\n';
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: summary, stderr: '' });
  const answer = await line.json(...check);
  assert.deepEqual(answer, { images: [], checked: 0, without_image: 2, faulty: 0 });
});

test('refuses private addresses by default, and shows the first thousand faults', async (t) => {
  const urls = Array.from({ length: 1_001 }, (_, index) => `http://127.0.0.1:${index + 1}/`);
  const line = await withImages(t, urls);
  const { status, stdout } = await line.run(check);
  assert.equal(status, 1);
  assert.equal(stdout.match(/^b\d+ .* NOT_PUBLIC /gm)?.length, 1_000);
  const more = '\n… and 1 more faulty images. --json lists all of them.\n';
  assert.ok(stdout.endsWith(`${more}1001 brands: 0 valid, 1001 faulty, 0 without an image.\n`));
});

test('Ctrl-C ends it at once, in the middle of a download', async (t) => {
  const server = createServer();
  const port = await listenOnAnyPort(t, server);
  const line = await withImages(t, [`http://127.0.0.1:${port}/logo.png`]);
  const running = start(t, [...check, '--allow-private', '--database', line.database]);
  await once(server, 'connection');
  running.signal('SIGINT');
  // If it waited for the image, it would end with a status instead of by the signal.
  assert.equal(await running.ended, null);
});
