/** The page of an operation as Markdown, and Markdown as HTML. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCatalogue } from '@partner-network/contract/errors';
import { partnersApi } from '@partner-network/contract/openapi/partners';
import { listBalances, listBrands } from '@partner-network/contract/operations';
import { balanceSchema, brandSchema } from '@partner-network/contract/records';
import { startTestService } from '../../../testkit/service/service.ts';
import { guideList } from '../../src/site/guides.ts';
import { rendered } from '../../src/site/markdown.ts';
import { operationPage, tryForm } from '../../src/site/operation.ts';

const place = { environment: 'sandbox', publicUrl: 'https://network.example' } as const;
const api = partnersApi(place, { brands: 50 });
const samples = [
  { label: 'curl', language: 'sh', source: 'curl …' },
  { label: 'Go', language: 'go', source: 'package main' },
];
const brands = operationPage(api, listBrands, samples);
const balances = operationPage(api, listBalances, samples);

/** The row of a table that begins with a name. */
function rowOf(page: string, name: string): string {
  return new RegExp(`^\\| \\[?\`${name}\`.*$`, 'm').exec(page)?.[0] ?? `no ${name}`;
}

test('each operation has its path, what it does, its scope and its samples as tabs', () => {
  assert.match(brands, /^# List brands\n\nLists your brands .*`BRANDS_READ`.* 50 requests/);
  assert.match(balances, /`BALANCES_READ`.* beta|beta.*`BALANCES_READ`/);
  assert.ok(brands.includes('GET https://network.example/network/v1/brands'));
  assert.ok(brands.includes('```sh title="curl"\ncurl …\n```\n```go title="Go"\npackage main\n```'));
  assert.match(
    balances,
    /## Try it\n\n```sh\ncurl .*balances\?customer_id=CUSTOMER_1001&type=CHECKING"\n```/,
  );
});

test('each parameter has its limits, and each field of the records is described', () => {
  assert.match(rowOf(brands, 'limit'), /\*Optional\. Integer, 1 to 100\. Default: 50\.\* Maximum/);
  assert.match(rowOf(brands, 'reference_id'), /\*Optional\. String, 1 to 1024 characters\.\* /);
  assert.match(rowOf(balances, 'customer_id'), /\*Required\. String, 1 to 128 characters\.\* /);
  assert.match(rowOf(balances, 'type'), /\*Required\. Always `CHECKING`\.\* /);
  assert.match(rowOf(brands, 'created_at'), /\*Required\. Time\.\* /);
  assert.match(rowOf(brands, 'color'), /\*Optional\. String, 7 characters\.\* /);
  assert.match(rowOf(brands, 'metadata'), /\*Optional\. Object, at most 50 keys\.\* /);
  assert.match(rowOf(balances, 'amount'), /\*Required\. Integer, -\d+ to \d+\.\* Amount/);
  for (const [page, { properties }] of [
    [brands, brandSchema],
    [balances, balanceSchema],
  ] as const) {
    for (const name of Object.keys(properties)) assert.match(rowOf(page, name), /\w{4}.*\. \|$/, name);
  }
});

test('an example stands for each status, and a page with a cursor for 200', () => {
  for (const page of [brands, balances]) {
    const titles = Array.from(page.matchAll(/^```json title="(\d+)"$/gm), ([, status]) => Number(status));
    assert.deepEqual(titles, [200, ...listBrands.errors]);
    assert.match(page, /title="200"\n\{\n[^`]*"cursor": "/);
  }
});

test('the errors are those of the catalogue, with their status and a link to their advice', () => {
  for (const [code, { status, when }] of Object.entries(errorCatalogue)) {
    const row = `| [\`${code}\`](/docs/errors#${code.toLowerCase()}) | *${status}* ${when} |`;
    assert.ok(balances.includes(row), row);
    if (code.startsWith('GRANT_')) assert.ok(!brands.includes(code), code);
  }
});

test('the form has a field for each parameter and nothing that limits what is typed', () => {
  const form = tryForm(listBalances, '"key"');
  for (const name of Object.keys(listBalances.parameters))
    assert.ok(form.includes(`data-parameter="${name}"`));
  assert.doesNotMatch(form, /maxlength|required>|pattern=|type="number"| name="key"/);
  assert.match(form, /value="&quot;key&quot;"/);
  assert.match(form, /action="\.\.\/\.\.\/network\/v1\/balances"/);
});

test('the Markdown of our pages is rendered', () => {
  const cases: readonly [markdown: string, html: string][] = [
    [
      'One `a < b`\nand **two\n`c`**.',
      '<p>One <code>a &lt; b</code>\nand <strong>two\n<code>c</code></strong>.</p>',
    ],
    ['*List* & [more `x`](#tag/x)', '<p><em>List</em> &amp; <a href="#tag/x">more <code>x</code></a></p>'],
    ['## A `b_c`, d', '<h2 id="a-b_c-d">A <code>b_c</code>, d</h2>'],
    [
      '```sh title="A"\na\n```\n\n```js title="B"\nb\n```',
      '<fieldset class="tabs"><legend class="unseen">Show</legend>' +
        '<input type="radio" name="tabs-0" id="tabs-0-0" checked><label for="tabs-0-0">A</label>' +
        '<div><pre><code>a\n</code></pre></div><input type="radio" name="tabs-0" id="tabs-0-1">' +
        '<label for="tabs-0-1">B</label><div><pre><code>b\n</code></pre></div></fieldset>',
    ],
    ['- one\n  more\n- two', '<ul><li>one\n  more</li><li>two</li></ul>'],
    ['1. one\n2. two', '<ol><li>one</li><li>two</li></ol>'],
    [
      '| A | B |\n|---|---|\n| `1` | x \\| y |',
      '<table><thead><tr><th>A</th><th>B</th></tr></thead>' +
        '<tbody><tr><td data-label="A"><code>1</code></td><td data-label="B">x | y</td></tr></tbody></table>',
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
  for (const { path: name } of guideList) {
    const { text } = await call(name);
    const prose = text.slice(text.indexOf('<main')).replaceAll(/<(pre|code)\b.*?<\/\1>/gs, '');
    assert.doesNotMatch(prose, /```|`|\*\*|\]\(|^\||^#|^- /m, name);
  }
});

test('a program gets the section of a code alone, with advice for every request', async (t) => {
  const { call } = await startTestService(t);
  for (const [code, { when, category }] of Object.entries(errorCatalogue)) {
    const { text } = await call(`/docs/errors/${code}.md`);
    assert.ok(text.startsWith(`# \`${code}\`\n\n`), code);
    assert.equal(text.match(/^#/gm)?.length, 1, code);
    const words = text.replaceAll(/\s+/g, ' ');
    assert.ok(words.includes(`${when} **What to do:** `), code);
    assert.ok(words.includes(`Category: \`${category}\``), code);
    // Neither a fact of one request, nor a request id.
    assert.doesNotMatch(words, /this is the|[0-9a-f]{8}-|for example:/, code);
    assert.equal((await call(`/docs/errors/${code.toLowerCase()}.md`)).text, text);
  }
});
