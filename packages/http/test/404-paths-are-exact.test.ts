import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../testkit/fixtures/fixture.ts';
import { assertRefused } from '../../testkit/fixtures/http.ts';
import { startTestService } from '../../testkit/service/service.ts';

const unknownPaths = [
  ...['/network/v1', '/network/v1/', '/network/v2/brands', '/constructor', '/__proto__'],
  ...['/network/v1/brands/', '/network/v1/Brands', '/NETWORK/v1/brands', '//network/v1/brands'],
  ...['/network/v1/./brands', '/network/v1/x/../brands', '/network/v1/br%61nds'],
  ...['/network/v1/brands%3Flimit=1', '/network/v1/brands;a=b', '/network/v1/%zz'],
];

test('anything but an exact path is NOT_FOUND, with and without a key, for every method', async (t) => {
  const { call } = await startTestService(t);
  for (const path of unknownPaths) {
    assertRefused(await call(path), 404, 'NOT_FOUND');
    assertRefused(await call(path, { key: keys.acme }), 404, 'NOT_FOUND');
    assertRefused(await call(path, { method: 'DELETE' }), 404, 'NOT_FOUND');
    assertRefused(await call(path, { method: 'OPTIONS' }), 404, 'NOT_FOUND');
    assert.equal((await call(path, { method: 'HEAD' })).status, 404);
  }
});

test('serves the placeholder image: a PNG of 256 by 256 pixels', async (t) => {
  const { call, port } = await startTestService(t);
  assert.equal((await call('/assets/brand-placeholder.png')).headers['content-type'], 'image/png');
  const response = await fetch(`http://127.0.0.1:${port}/assets/brand-placeholder.png`);
  const image = Buffer.from(await response.arrayBuffer());
  assert.equal(image.subarray(1, 4).toString(), 'PNG');
  assert.deepEqual([image.readUInt32BE(16), image.readUInt32BE(20)], [256, 256]);
});
