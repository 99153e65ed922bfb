import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Reads, StoreUnavailable } from '../../../store/src/port.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { openTestDatabase } from '../../../testkit/service/database.ts';
import { checkBrandImages, type ImageReport } from '../../src/images/check.ts';
import { importValues } from '../../src/ingest/import.ts';
import { loopback, serveHttp } from './image-host.ts';
import { png } from './pictures.ts';

const image = png(256, 256);

function brand(id: string, profile_image_url?: string) {
  return { id, name: id, reference_id: id, ...(profile_image_url !== undefined && { profile_image_url }) };
}

/** Brands whose ids sort by their number, and which share this number of images. */
function brands(count: number, host: string, images = count) {
  const all = Array.from({ length: count }, (_, index) => index);
  return all.map((index) => brand(`b${1_000 + index}`, `${host}/${index % images}`));
}

/** A database where one partner has these brands and another partner has one brand. */
async function storeOf(t: TestContext, records: readonly object[], engine?: string): Promise<Reads> {
  const { store } = await openTestDatabase(t, 'nothing', async () => {}, engine);
  for (const id of ['acme', 'zenith'])
    await store.createPartner({ id, name: id, created_at: createdAt }, byTest);
  await importValues(store, 'brands', records, 'acme');
  await importValues(store, 'brands', [brand('zenith', 'http://127.0.0.1:1/logo.png')], 'zenith');
  return store;
}

async function checkAll(
  store: Pick<Reads, 'listBrands'>,
  limitMs = 50_000,
  reach = loopback,
): Promise<ImageReport[]> {
  return Array.fromAsync(checkBrandImages(store, 'acme', reach, limitMs));
}

for (const engine of ['sqlite', 'postgres']) {
  test(`reports on every brand of the partner, and on no other, on ${engine}`, async (t) => {
    const host = await serveHttp(t, ({ url }, response) => {
      if (url === '/huge') response.writeHead(200).end(png(300, 256, 2_500_000));
      else if (url === '/long') response.setHeader('content-length', '2000000').flushHeaders();
      else response.end(image);
    });
    const store = await storeOf(
      t,
      [
        brand('b1', `${host}/logo "é".png?token=secret`.replaceAll(' ', '%20')),
        brand('b2'),
        brand('b3', `${host}/huge`),
        brand('b4', `${host}/long`),
      ],
      engine,
    );
    const details = {
      TOO_LARGE: 'Compress the image: it must be smaller than 2000000 bytes.',
      NOT_SQUARE: 'Crop the image to a square: it is 300 pixels wide and 256 pixels high.',
    };
    const errors = (...codes: (keyof typeof details)[]) => ({
      status: codes.length === 0 ? 'ok' : 'faulty',
      host: '127.0.0.1',
      errors: codes.map((code) => ({ code, detail: details[code] })),
    });
    const size = { format: 'png', width: 256, height: 256 };
    assert.deepEqual(await checkAll(store), [
      { brand_id: 'b1', ...size, bytes: image.length, ...errors() },
      { brand_id: 'b2', status: 'without_image', errors: [] },
      { brand_id: 'b3', ...size, width: 300, ...errors('NOT_SQUARE', 'TOO_LARGE') },
      { brand_id: 'b4', bytes: 2_000_000, ...errors('TOO_LARGE') },
    ]);
  });
}

test('downloads eight images at a time', async (t) => {
  let most = 0;
  let waiting: ServerResponse[] = [];
  const host = await serveHttp(t, async (_request, response) => {
    waiting.push(response);
    most = Math.max(most, waiting.length);
    if (waiting.length < 8) return;
    // Leaves time for a ninth request.
    await wait(30);
    for (const held of waiting) held.end(image);
    waiting = [];
  });
  const store = await storeOf(t, brands(40, host));
  assert.deepEqual(pluck(await checkAll(store), 'status'), Array(40).fill('ok'));
  assert.equal(most, 8);
});

test('reports in the order of the brands, even if the first image comes last', async (t) => {
  let answered = 0;
  let first: ServerResponse | undefined;
  const host = await serveHttp(t, ({ url }, response) => {
    if (url === '/0') first = response;
    else {
      response.end(image);
      answered += 1;
    }
    if (answered === 99) first?.end(image);
  });
  const records = brands(230, host);
  assert.deepEqual(pluck(await checkAll(await storeOf(t, records)), 'brand_id'), pluck(records, 'id'));
});

test('downloads an image once, however many brands use it', async (t) => {
  const asked: string[] = [];
  const host = await serveHttp(t, ({ url = '' }, response) => {
    asked.push(url);
    response.end(url === '/0' ? png(9, 9) : image);
  });
  const store = await storeOf(t, brands(210, host, 2));
  const reports = await checkAll(store);
  assert.deepEqual(asked.toSorted(), ['/0', '/1']);
  assert.equal(reports.filter(({ status }) => status === 'faulty').length, 105);
});

test('limits the time of each image, and leaves no timer behind', async (t) => {
  const host = await serveHttp(t, ({ url }, response) => {
    if (url !== '/0') response.end(image);
  });
  const store = await storeOf(t, brands(3, host));
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const codes = (await checkAll(store, 1_000)).map(({ errors }) => errors.map(({ code }) => code).join());
  assert.deepEqual(codes, ['TIMED_OUT', '', '']);
  await checkAll({ listBrands: async (query) => store.listBrands({ ...query, after: 'b1000' }) });
  assert.equal(timers(), before);
});

test('fails when the database fails, and ends the downloads that still run', async (t) => {
  const left = Promise.withResolvers<void>();
  const host = await serveHttp(t, ({ url, socket }, response) => {
    if (url !== '/held') return response.end(image);
    socket.on('close', left.resolve);
  });
  const records = [brand('b1', host), brand('b2', `${host}/held`)].map((record) => JSON.stringify(record));
  let pages = 0;
  const store: Pick<Reads, 'listBrands'> = {
    listBrands: async () => {
      if (pages === records.length) throw new StoreUnavailable('It is gone.');
      pages += 1;
      return { records: records[pages - 1]!, bytes: 0, next: `b${pages}` };
    },
  };
  await assert.rejects(checkAll(store, 1_000), StoreUnavailable);
  await left.promise;
});
