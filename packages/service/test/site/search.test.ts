/** The search as the server answers it: what it finds first, and what it leaves out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publicUrl, startTestService } from '../../../testkit/service/service.ts';

const firstHits = {
  INVALID_CURSOR: '/docs/errors#invalid_cursor',
  retry: '/docs/guides/errors#retry-a-request',
  'expired grant': '/docs/errors#grant_expired',
  '50 a second': '/docs/guides/rate-limits#50-requests-a-second',
  pip: '/docs/guides/python#install',
  CORS: '/docs/guides/environments-and-scopes#cors',
  install: '/docs/clients',
  idempotency: '/docs/guides/errors#retry-a-request',
  'rate limit exceeded': '/docs/guides/rate-limits#handle-a-429',
  'how do I get an API key': '/docs/guides/keys#get-an-api-key',
  golang: '/docs/operations/listBrands#example-request',
  'expird grant': '/docs/errors#grant_expired',
  'zyzzyva golang': '/docs/operations/listBrands#example-request',
};

for (const [words, section] of Object.entries(firstHits)) {
  test(`the search finds the section about "${words}" first, without a script`, async (t) => {
    const { call } = await startTestService(t);
    const { text, headers } = await call(`/docs/search?q=${encodeURIComponent(words)}`, {
      headers: { 'accept-encoding': 'br, gzip' },
    });
    assert.equal(headers['content-encoding'], undefined, 'compressing takes longer than the search');
    const [, first = ''] = /<main.*?<li><a href="([^"]+)"/s.exec(text) ?? [];
    const { pathname, hash } = new URL(first, `${publicUrl}/docs/search`);
    assert.equal(pathname + hash, section);
    assert.ok(text.includes(`value="${words}"`));
    // What it shows of the section has one of the words.
    const [, hit = ''] = /<main.*?<li>(.*?)<\/li>/s.exec(text) ?? [];
    const shown = words.toLowerCase().replaceAll(/\bi |how do /g, '');
    assert.match(hit.toLowerCase(), new RegExp(shown.replaceAll(' ', '|')));
  });
}

test('a search for anything else finds nothing, and what was searched is escaped', async (t) => {
  const { call } = await startTestService(t);
  const { status, text } = await call(`/docs/search?q=${encodeURIComponent('"><xyzzy>')}`);
  assert.equal(status, 200);
  assert.match(text, /<h1 [^>]+>Search<\/h1>\n<p>Nothing found/);
  assert.match((await call('/docs/search?q=')).text, /<h1 [^>]+>Search<\/h1>\n<p>Search for a word/);
  assert.ok(!text.includes('<xyzzy'));
});

test('a search uses four words, and looks for longer words only if a word has three letters', async (t) => {
  const { call } = await startTestService(t);
  const hits = async (words: string) => {
    const { text } = await call(`/docs/search?q=${encodeURIComponent(words)}`);
    return /<ul class="hits">.*?<\/ul>/s.exec(text)?.[0];
  };
  const four = 'cursor grant retry limit';
  assert.equal(await hits(`how ${four} python ${'python '.repeat(1_000)}`), await hits(four));
  assert.notEqual(await hits(`${four}`), await hits('cursor grant retry python'));
  assert.equal(await hits(`${'x'.repeat(100)} python`), undefined);
  assert.equal(await hits('go'), await hits('go pq'), 'a word of two letters does not find others');
  assert.equal(await hits('zq'), undefined);
  assert.ok(await hits('pag'));
});
