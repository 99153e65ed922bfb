import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importValues } from '../../../operator/src/ingest/import.ts';
import { acmeBrands, createdAt, keys } from '../../../testkit/fixtures/fixture.ts';
import { wholeFile } from '../../../testkit/servers/postgres.ts';
import { publicUrl, startTestService } from '../../../testkit/service/service.ts';
import { newApiKey } from '../../src/auth.ts';

/** For the tests that only read. */
const { brands, port } = await startTestService(wholeFile);

const placeholder = `${publicUrl}/assets/brand-placeholder.png`;

test('sends every field in the order of its table, and leaves out what has no value', async () => {
  const { status, text } = await brands('', { key: keys.acme });
  assert.equal(status, 200);
  const times = { created_at: createdAt, updated_at: createdAt };
  const [first, second, third] = acmeBrands;
  const expected = [
    // Metadata is a map: its keys come sorted.
    { ...first, metadata: { note: 'a "quoted" \\ value', tier: 'gold' } },
    { id: 'b2', name: second!.name, ...times, reference_id: 'shared', profile_image_url: placeholder },
    {
      id: 'b3',
      name: third!.name,
      ...times,
      reference_id: 'shared',
      profile_image_url: placeholder,
      metadata: {},
    },
  ];
  assert.equal(text, JSON.stringify({ brands: expected }));
});

test('serves the placeholder image: a PNG of 256 by 256 pixels', async () => {
  const response = await fetch(`http://127.0.0.1:${port}/assets/brand-placeholder.png`);
  assert.equal(response.headers.get('content-type'), 'image/png');
  const image = Buffer.from(await response.arrayBuffer());
  assert.equal(image.subarray(1, 4).toString(), 'PNG');
  assert.deepEqual([image.readUInt32BE(16), image.readUInt32BE(20)], [256, 256]);
});

test('reference_id restricts to brands with exactly this value', async () => {
  const idsFor = async (query: string) => {
    const { text } = await brands(query, { key: keys.acme });
    return JSON.parse(text).brands.map(({ id }: { id: string }) => id);
  };
  assert.deepEqual(await idsFor('?reference_id=shared'), ['b2', 'b3']);
  assert.deepEqual(await idsFor('?reference_id=ref+one'), ['b1'], 'a plus is a space');
  assert.deepEqual(await idsFor('?reference_id=ref%20one'), ['b1']);
  assert.deepEqual(await idsFor('?reference_id=Shared'), [], 'case matters');
});

test('never repeats a key that was sent as a parameter or as its name, whole or in part', async () => {
  const key = newApiKey('sandbox');
  const encoded = `%70${key.slice(1)}`;
  const twice = key.replaceAll('_', '%255F');
  const names = [key, `a${key}b`, encoded, `${encoded}%zz`, twice, key.slice(0, 30), key.slice(8)];
  for (const query of [...names.map((name) => `?${name}=1`), `?reference_id=${key}%00`]) {
    const { status, text } = await brands(query, { key: keys.acme });
    assert.equal(status, 400);
    assert.ok(!text.includes(key.slice(10, 28)), query);
  }
});

test('never repeats a value', async () => {
  const { text } = await brands('?limit=seventeen&cursor=opensesame', { key: keys.acme });
  assert.doesNotMatch(text, /seventeen|opensesame/);
});

test('Content-Length counts bytes, in any script that a name is written in', async (t) => {
  const { store, brands } = await startTestService(t);
  // With an image: without one, the page is not sent as the database rendered it.
  const named = (name: string) => ({ name, profile_image_url: 'https://images.example.com/a.png' });
  for (const name of ['plain', 'café', 'Ωμέγα', '寿司', '🥐', '\u0080', '\ufffd']) {
    await importValues(store, 'brands', [{ id: 'x', reference_id: name, ...named(name) }], 'acme');
    const answer = await brands(`?reference_id=${encodeURIComponent(name)}`, { key: keys.acme });
    assert.equal(JSON.parse(answer.text).brands[0].name, name);
    assert.equal(answer.headers['content-length'], String(Buffer.byteLength(answer.text)), name);
  }
});

const isPostgres = process.env.TEST_ENGINE === 'postgres';

test('Content-Length is right for invalid UTF-8 that another tool stored', {
  skip: isPostgres,
}, async (t) => {
  const { database, brands } = await startTestService(t);
  await database.execute(`
    update brands set name = cast(x'436166e9' as text), profile_image_url = 'https://images.example.com/a.png'
    where partner_id = 'acme'`);
  const answer = await brands('', { key: keys.acme });
  assert.equal(JSON.parse(answer.text).brands[0].name, 'Caf\ufffd');
  assert.equal(answer.headers['content-length'], String(Buffer.byteLength(answer.text)));
});
