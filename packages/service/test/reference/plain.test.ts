/** The reference without scripts: the plain HTML of the operations and of the guides. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCatalogue } from '@partner-network/contract/errors';
import { partnersApi } from '@partner-network/contract/openapi/partners';
import { scopeMeanings } from '@partner-network/contract/permissions';
import { balanceSchema, brandSchema } from '@partner-network/contract/records';
import { publicUrl, startTestService } from '../../../testkit/service/service.ts';
import { guideList } from '../../src/reference/guide-list.ts';
import { rendered } from '../../src/reference/markdown.ts';
import { plainReference } from '../../src/reference/plain.ts';

const place = { environment: 'sandbox', publicUrl: 'https://network.example' } as const;
const { plain } = plainReference(partnersApi(place, { brands: 50 }), []);
const [introduction = '', brands = '', balances = ''] = plain.split('<section ');

/** The text of an entry of a list, without its tags. */
function entryOf(section: string, name: string): string {
  const entries = section
    .split(/<dt>|<\/dl>/)
    .map((entry) => entry.replaceAll(/<[^>]+>/g, ' ').replaceAll(/ +/g, ' '));
  return entries.find((entry) => entry.trim().startsWith(`${name} `))?.trim() ?? `no ${name}`;
}

test('the plain page has the introduction, the base URL and all scopes', () => {
  assert.match(introduction, /<h1>Partner Network<\/h1>/);
  assert.ok(introduction.includes('<code>https://network.example/network/v1</code>'));
  for (const scope of Object.keys(scopeMeanings)) assert.ok(introduction.includes(`<code>${scope}</code>`));
});

test('each operation has its path, what it does, its scope and a curl sample', () => {
  assert.match(brands, /^id="tag\/brands\/GET\/brands">\n<h2>List brands<\/h2>/);
  assert.match(balances, /^id="tag\/balances\/GET\/balances">\n<h2>List balances<\/h2>/);
  assert.match(brands, /<code>GET https:\/\/network\.example\/network\/v1\/brands<\/code>/);
  assert.match(brands, /Lists your brands .*<code>BRANDS_READ<\/code>.* 50 requests/);
  assert.match(balances, /<code>BALANCES_READ<\/code>.* beta|beta.*<code>BALANCES_READ<\/code>/);
  assert.match(brands, /<pre><code>curl -H &quot;Authorization: Bearer \$PARTNER_NETWORK_API_KEY&quot; /);
  assert.match(balances, /balances\?customer_id=CUSTOMER_1001&amp;type=CHECKING&quot;<\/code><\/pre>/);
});

test('each parameter has its bounds, and each field of the records is described', () => {
  assert.match(entryOf(brands, 'limit'), /^limit optional, integer, 1 to 100, default 50 Maximum/);
  assert.match(entryOf(brands, 'reference_id'), /^reference_id optional, string, 1 to 1024 characters /);
  assert.match(entryOf(balances, 'customer_id'), /^customer_id required, string, 1 to 128 characters /);
  assert.match(entryOf(balances, 'type'), /^type required, CHECKING /);
  assert.match(entryOf(brands, 'created_at'), /^created_at required, date and time /);
  assert.match(entryOf(brands, 'color'), /^color optional, string, 7 characters /);
  assert.match(entryOf(brands, 'metadata'), /^metadata optional, object, at most 50 keys /);
  assert.match(entryOf(balances, 'amount'), /^amount required, integer, -\d+ to \d+ Amount/);
  for (const [section, { properties }] of [
    [brands, brandSchema],
    [balances, balanceSchema],
  ] as const) {
    for (const name of Object.keys(properties)) assert.match(entryOf(section, name), /\w{4}.*\.$/, name);
  }
});

test('the errors are those of the catalogue, by status', () => {
  for (const [code, { status }] of Object.entries(errorCatalogue)) {
    const isOfGrants = code.startsWith('GRANT_');
    assert.ok(entryOf(balances, String(status)).includes(code), code);
    if (isOfGrants) assert.ok(!brands.includes(code), code);
  }
});

test('every link of the plain pages has a target', async (t) => {
  const { call } = await startTestService(t);
  const guides = guideList.map(({ name }) => `/docs/guides/${name}`);
  const pages = new Map<string, string>();
  for (const path of ['/docs', '/docs/guides', ...guides]) pages.set(path, (await call(path)).text);
  let links = 0;
  for (const [path, text] of pages) {
    for (const [, link = ''] of text.matchAll(/<a [^>]*href="([^"]+)"/g)) {
      const { origin, pathname, hash } = new URL(link, `${publicUrl}${path}`);
      assert.equal(origin, publicUrl);
      const target = pages.get(pathname) ?? (await call(pathname)).text;
      assert.ok(hash === '' || target.includes(` id="${hash.slice(1)}"`), `${path} links to ${link}`);
      assert.doesNotMatch(target, /"NOT_FOUND"/, link);
      links += 1;
    }
  }
  assert.ok(links > 100, `${links} links`);
});

test('the Markdown of our pages is rendered', () => {
  const cases: readonly [markdown: string, html: string][] = [
    [
      'One `a < b`\nand **two\n`c`**.',
      '<p>One <code>a &lt; b</code>\nand <strong>two\n<code>c</code></strong>.</p>',
    ],
    ['*List* & [more `x`](#tag/x)', '<p><em>List</em> &amp; <a href="#tag/x">more <code>x</code></a></p>'],
    ['## <a id="a-b"></a>B', '<h2 id="a-b">B</h2>'],
    ['- one\n  more\n- two', '<ul><li>one\n  more</li><li>two</li></ul>'],
    ['1. one\n2. two', '<ol><li>one</li><li>two</li></ol>'],
    [
      '| A | B |\n|---|---|\n| `1` | x \\| y |',
      '<table><thead><tr><th>A</th><th>B</th></tr></thead>' +
        '<tbody><tr><td><code>1</code></td><td>x | y</td></tr></tbody></table>',
    ],
    [
      'Run:\n```sh\necho "<a>"\n\n- no list\n```\n\nEnd.',
      '<p>Run:</p>\n<pre><code>echo &quot;&lt;a&gt;&quot;\n\n- no list\n</code></pre>\n<p>End.</p>',
    ],
  ];
  for (const [markdown, html] of cases) assert.equal(rendered(markdown), html);
});

test('no Markdown of the guides is left over', async (t) => {
  const { call } = await startTestService(t);
  for (const { name } of guideList) {
    const { text } = await call(`/docs/guides/${name}`);
    const prose = text.slice(text.indexOf('<main')).replaceAll(/<(pre|code)>.*?<\/\1>/gs, '');
    assert.doesNotMatch(prose, /```|`|\*\*|\]\(|^\||^#|^- /m, name);
  }
});
