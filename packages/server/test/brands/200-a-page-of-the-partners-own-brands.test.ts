import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acmeBrands, createdAt, keys } from '../../../testkit/fixtures/fixture.ts';
import { publicUrl, startTestService } from '../../../testkit/fixtures/service.ts';
import { importValues } from '../../src/ingest/import.ts';

const placeholder = `${publicUrl}/assets/brand-placeholder.png`;

test('sends every field in the order of its table, and leaves out what has no value', async (t) => {
  const { brands } = await startTestService(t);
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

test('reference_id restricts to brands that have exactly this one', async (t) => {
  const { brands } = await startTestService(t);
  const idsFor = async (query: string) => {
    const { text } = await brands(query, { key: keys.acme });
    return JSON.parse(text).brands.map(({ id }: { id: string }) => id);
  };
  assert.deepEqual(await idsFor('?reference_id=shared'), ['b2', 'b3']);
  assert.deepEqual(await idsFor('?reference_id=ref+one'), ['b1'], 'a plus is a space');
  assert.deepEqual(await idsFor('?reference_id=ref%20one'), ['b1']);
  assert.deepEqual(await idsFor('?reference_id=Shared'), [], 'case matters');
});

test('gives 50 by default and at most the limit, with a cursor while there is more', async (t) => {
  const { brands, store } = await startTestService(t);
  const many = Array.from({ length: 60 }, (_, index) => ({ name: `n${index}`, reference_id: 'many' }));
  await importValues(store, 'brands', many, 'acme');

  const first = JSON.parse((await brands('', { key: keys.acme })).text);
  assert.equal(first.brands.length, 50);
  const rest = JSON.parse((await brands(`?cursor=${first.cursor}`, { key: keys.acme })).text);
  assert.equal(rest.brands.length, 13);
  assert.equal('cursor' in rest, false, 'the last page has no cursor');

  const exact = JSON.parse((await brands('?limit=63', { key: keys.acme })).text);
  assert.equal(exact.brands.length, 63);
  assert.equal('cursor' in exact, false, 'a page that ends at the last record is the last page');
});

test('HEAD answers with the headers of GET and no body', async (t) => {
  const { brands } = await startTestService(t);
  const get = await brands('?limit=1', { key: keys.acme });
  const head = await brands('?limit=1', { key: keys.acme, method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.headers['content-length'], get.headers['content-length']);
});

test('a limit of rate says on each answer what is left', async (t) => {
  const { createMemoryLimiter } = await import('../../src/limiter/memory.ts');
  const { brands } = await startTestService(t, { limiters: { brands: createMemoryLimiter(50) } });
  const first = await brands('', { key: keys.acme });
  const second = await brands('?limit=none', { key: keys.acme });
  assert.equal(first.headers['ratelimit-policy'], '"brands";q=50;w=1');
  assert.equal(first.headers.ratelimit, '"brands";r=49;t=1');
  assert.equal(second.status, 400);
  assert.equal(second.headers.ratelimit, '"brands";r=48;t=1');
});

test('says how many bytes it sends, whatever the names are written in', async (t) => {
  const { store, brands } = await startTestService(t);
  // All with an image: where one has none, the page is put together from more than the database gives.
  const named = (name: string) => ({ name, profile_image_url: 'https://images.example.com/a.png' });
  for (const name of ['plain', 'café', 'Ωμέγα', '寿司', '🥐', '\u0080', '\ufffd']) {
    await importValues(store, 'brands', [{ id: 'x', reference_id: name, ...named(name) }], 'acme');
    const answer = await brands(`?reference_id=${encodeURIComponent(name)}`, { key: keys.acme });
    assert.equal(JSON.parse(answer.text).brands[0].name, name);
    assert.equal(answer.headers['content-length'], String(Buffer.byteLength(answer.text)), name);
  }
});

const isPostgres = process.env.TEST_ENGINE === 'postgres';

test('so it does for bytes that are no text, where another tool stored them', {
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
