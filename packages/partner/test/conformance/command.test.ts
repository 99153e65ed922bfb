/** The command: what it refuses, what it cannot test, and how it reports. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { serveHttp } from '../../../operator/test/images/image-host.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { assertFailed, run } from '../../../testkit/fixtures/run.ts';
import { launchChromium, needsChromium } from '../../../testkit/servers/chromium.ts';
import { freePort } from '../../../testkit/servers/free-port.ts';
import { allCases, casesOf } from '../../src/conformance/run.ts';

const variables = {
  PARTNER_NETWORK_API_KEY: keys.acme,
  PARTNER_NETWORK_CUSTOMER_ID: 'customer-of-a-real-deployment',
};

function conformance(words: readonly string[], more: Readonly<Record<string, string>> = {}) {
  return run(['conformance', ...words], { variables: { ...variables, ...more } });
}

test('reports every bad word, flag, file and variable at once, and exits with 2', async (t) => {
  const folder = temporaryFolder(t);
  const list = join(folder, 'list.txt');
  writeFileSync(list, '# a comment\n\nbrands.page.shape # known\nno.such.case\n');
  const finished = await conformance(
    ['https://network.example/v1', '--profile', 'all', '--expected-failures', list, '--nonsense'],
    { PARTNER_NETWORK_API_KEY: 'two words', PARTNER_NETWORK_GRANT_ID: '' },
  );
  assertFailed(
    finished,
    2,
    /^There is no flag --nonsense\.$/m,
    /^--profile must be one of specification, decisions\.$/m,
    /^--expected-failures names unknown cases: no\.such\.case\.$/m,
    /^PARTNER_NETWORK_API_KEY must be the API key only/m,
    /^PARTNER_NETWORK_GRANT_ID is set but empty\./m,
    /^BASE_URL must end in \/network\/v1, such as /m,
  );
  const withoutKey = await run(['conformance', '--expected-failures', folder]);
  assertFailed(
    withoutKey,
    2,
    /^PARTNER_NETWORK_API_KEY is not set\./m,
    /^--expected-failures cannot be read \(EISDIR\)\.$/m,
    /^BASE_URL is missing\.$/m,
  );
});

test('a report that cannot be written is noticed before the first request', async (t) => {
  const address = await serveHttp(t, () => assert.fail('a request was sent'));
  const path = join(temporaryFolder(t), 'missing', 'report.html');
  assertFailed(
    await conformance([`${address}/network/v1`, '--html', path]),
    2,
    /^Cannot write the report: ENOENT: /,
  );
});

const noAnswer = /is not an answer of this service\./;
const withoutGrant =
  /refused the balances of PARTNER_NETWORK_CUSTOMER_ID with status 403 and the code GRANT_NOT_FOUND\./;

/** Deployments that cannot be tested, by their answers, and what the command says. */
const untestable: readonly (readonly [name: string, answer: RequestListener, said: RegExp])[] = [
  [
    'an unknown key',
    (_, response) => response.writeHead(401).end('{"errors":[]}'),
    /refused the key with status 401\.\nCheck that PARTNER_NETWORK_API_KEY is complete/,
  ],
  [
    'a customer without a grant',
    ({ url }, response) => {
      response.statusCode = url?.includes('/balances?customer_id=') ? 403 : 200;
      response.end('{"errors":[{"code":"GRANT_NOT_FOUND"}]}');
    },
    withoutGrant,
  ],
  [
    'an overloaded service',
    (_, response) => response.writeHead(503, { 'retry-after': '0' }).end('{}'),
    /answered 503 again and again\. Run the command again later\./,
  ],
  ['a web page', (_, response) => response.end('<h1>Hello</h1>'), noAnswer],
  ['a redirect', (_, response) => response.writeHead(301, { location: '/' }).end('{}'), noAnswer],
  ['another path', (_, response) => response.writeHead(404).end('{"errors":[]}'), noAnswer],
];

test('what cannot be tested is named: exit 3', { concurrency: 2 }, async (t) => {
  const nobody = `http://127.0.0.1:${await freePort()}/network/v1`;
  assertFailed(await conformance([nobody]), 3, /^No service listens at 127\.0\.0\.1:\d+\./);
  const tests = untestable.map(([name, answer, said]) =>
    t.test(name, async (t) => {
      assertFailed(await conformance([`${await serveHttp(t, answer)}/network/v1/`]), 3, said);
    }),
  );
  await Promise.all(tests);
});

/** Repeats what it gets, with everything that could hurt a terminal or a report. */
async function startHostile(t: TestContext): Promise<string> {
  const address = await serveHttp(t, ({ url, headers }, response) => {
    const echo = `${url} ${headers.authorization}`;
    const base64 = Buffer.from(echo).toString('base64');
    const detail = `\u001b[31m${echo} ${base64} ]]> </pre><script>document.title=1</script>`;
    response.setHeader('X-Request-Id', `${encodeURIComponent(echo)} <img src=x onerror="document.title=2">`);
    response.writeHead(400).end(JSON.stringify({ errors: [{ code: 'X', detail }], amount: 987_654 }));
  });
  return `${address}/proxy/network/v1`;
}

test('a hostile deployment fails, and the reports are safe and contain none of its values', async (t) => {
  const folder = temporaryFolder(t);
  const html = join(folder, 'r.html');
  const junit = join(folder, 'r.xml');
  const list = join(folder, 'expected.txt');
  const failing = 'brands.page.shape';
  writeFileSync(list, `${failing}\ncredentials.required\n`);
  const url = await startHostile(t);
  const reported = ['--html', html, '--junit', junit, '--expected-failures', list];
  const { status, stdout, stderr } = await conformance([url, '--profile', 'specification', ...reported]);
  assert.equal(status, 1, stderr);
  const inProfile = casesOf('specification');
  const reports = { stdout, html: readFileSync(html, 'utf8'), junit: readFileSync(junit, 'utf8') };

  await t.test('every case of the profile is in every report, and no other', () => {
    for (const [name, text] of Object.entries(reports))
      for (const one of allCases)
        assert.equal(
          new RegExp(`[ >"\\n]${RegExp.escape(one.id)}[ :<,\\n]`).test(text),
          inProfile.includes(one),
          `${one.id} in ${name}`,
        );
    assert.match(
      stdout,
      new RegExp(
        `^${inProfile.length} cases: \\d+ passed, \\d+ failed, 1 failed as expected, \\d+ skipped\\.$`,
        'm',
      ),
    );
    assert.match(stderr, /^credentials\.required passed, although it is an expected failure\./m);
    assert.match(stderr, /^http:\S+ does not conform: \d+ cases failed\.$/m);
    assert.match(stdout, new RegExp(`^EXPECTED ${RegExp.escape(failing)}: `, 'm'));
    assert.match(stdout, /^scopes\.required +skipped .* \(needs PARTNER_NETWORK_BRANDS_ONLY_API_KEY\) /m);
    assert.match(
      stdout,
      /^ {4}GET \/proxy\/network\/v1\/brands\S* HTTP\/1.1$(\n .+)*\n {4}Authorization: Bearer \$PARTNER\w+$/m,
    );
  });

  await t.test('no value of the deployment and nothing unprintable is in a report', () => {
    const secret = /customer-of-a-real|987.?654|acme0|YWNtZTAw|[^\n -~×…\ufffd]/;
    for (const [name, text] of Object.entries(reports)) assert.doesNotMatch(text, secret, name);
    assert.match(stdout, /customer_id=\$PARTNER_NETWORK_CUSTOMER_ID/);
    assert.doesNotMatch(reports.html, /<script|<img/);
    assert.doesNotMatch(reports.junit, /<script|\]\]>/);
  });

  await t.test('the page fits a phone and a desktop, without scripts and errors', needsChromium, async () => {
    await using browser = await launchChromium();
    const backgrounds = new Set<string>();
    for (const [width, colorScheme] of [
      [390, 'dark'],
      [1280, 'light'],
    ] as const) {
      const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('request', (request) =>
        complaints.push(...(request.url().startsWith('file:') ? [] : [request.url()])),
      );
      await page.goto(pathToFileURL(html).href);
      assert.match(await page.title(), /^http\S+ does not conform$/);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
      backgrounds.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      assert.deepEqual(complaints, []);
    }
    assert.equal(backgrounds.size, 2);
  });
});
