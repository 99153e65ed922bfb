/** What each tool must do with the document. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../packages/testkit/servers/free-port.ts';
import { root } from '../../test/sources.ts';
import { apiKey, collectionFile, documentFile, type Stage } from './stage.ts';

export interface Check {
  readonly tool: string;
  readonly promise: string;
  run(stage: Stage): Promise<void>;
}

/** The programs print all pages of brands, an error and balances. */
const printed = `120 Golden Bakery
400 VALUE_TOO_HIGH
125050 USD
9999 USD
4200000 USD
`;

/** Our own compiler. The page installs an older one. */
const tsc = [
  join(root, 'node_modules/.bin/tsc'),
  '--strict --module nodenext --target es2023 --types node --skipLibCheck',
  '--rewriteRelativeImportExtensions --outDir built',
].join(' ');

/** A tool that generates a client, and a program in `programs` that uses the client. */
function generator(tool: string, command: string, program: string): Check[] {
  return [
    { tool, promise: 'generates without a warning', run: ({ runQuietly }) => runQuietly(command) },
    {
      tool,
      promise: 'compiles with tsc --strict',
      run: ({ runQuietly }) => runQuietly(`${tsc} ${program}.ts`),
    },
    {
      tool,
      promise: 'gets pages, a 400 and balances',
      run: async ({ run }) => assert.equal(await run(`node built/${program}.js`), printed),
    },
  ];
}

const headers = { authorization: `Bearer ${apiKey}` };

interface Answer {
  readonly status: number;
  readonly body: {
    readonly brands?: readonly unknown[];
    readonly balances?: readonly unknown[];
    readonly cursor?: string;
    readonly errors?: readonly { readonly code: string }[];
  };
}

async function get(url: string): Promise<Answer> {
  const response = await fetch(url, { headers });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** All pages of brands, at most ten: the number of records on each. */
async function walk(origin: string): Promise<number[]> {
  const sizes: number[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined && sizes.length < 10) {
    const { status, body } = await get(`${origin}/brands${cursor && `?cursor=${cursor}`}`);
    assert.equal(status, 200, JSON.stringify(body));
    sizes.push(body.brands!.length);
    cursor = body.cursor;
  }
  assert.equal(cursor, undefined, 'the walk did not end');
  return sizes;
}

const balances = 'balances?type=CHECKING&customer_id=';

async function prismProxy({ start, baseUrl }: Stage): Promise<void> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const proxy = await start(
    `exec prism proxy --errors --port ${port} ${documentFile} ${baseUrl}`,
    /Prism is listening/,
  );
  assert.deepEqual(await walk(origin), [50, 50, 20]);
  const statusOf = async (path: string) => {
    const { status, body } = await get(`${origin}/${path}`);
    return [status, body.errors?.[0]?.code ?? body.balances?.length];
  };
  // The proxy itself refuses requests that the document forbids. It cannot know that this cursor is invalid.
  assert.deepEqual(await statusOf('brands?cursor=invalid'), [400, 'INVALID_CURSOR']);
  assert.deepEqual(await statusOf(`${balances}CUSTOMER_1001`), [200, 3]);
  assert.deepEqual(await statusOf(`${balances}CUSTOMER_1006`), [403, 'GRANT_NOT_FOUND']);
  await proxy.stop();
  assert.doesNotMatch(proxy.printed, /warning|error|violation/i);
}

async function prismMock({ start }: Stage): Promise<void> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const mock = await start(`exec prism mock --port ${port} ${documentFile}`, /Prism is listening/);
  assert.deepEqual(await walk(origin), [1]);
  const refused = await get(`${origin}/brands?limit=0`);
  assert.deepEqual([refused.status, refused.body.errors?.[0]?.code], [400, 'VALUE_TOO_HIGH']);
  const { status, body } = await get(`${origin}/${balances}CUSTOMER_1001`);
  assert.deepEqual([status, body.balances?.length], [200, 1]);
  await mock.stop();
}

/** Runs a collection; resolves to the statuses of its responses. */
async function newman({ folder, runQuietly }: Stage, collection: string, variables: string) {
  const report = 'newman.json';
  await runQuietly(`newman run ${collection} ${variables} -r json --reporter-json-export ${report}`);
  const { run } = JSON.parse(readFileSync(join(folder, report), 'utf8'));
  assert.deepEqual(run.failures, []);
  return run.executions.map(({ response }: { response: { code: number } }) => response.code);
}

const convert = `openapi2postmanv2 -s ${documentFile} -o collection.json`;
const withExamples = '-O parametersResolution=Example,enableOptionalParameters=false';
const bearer = `--env-var bearerToken=${apiKey}`;

export const checks: readonly Check[] = [
  {
    tool: 'swagger-parser',
    promise: 'validates, bundles, dereferences',
    run: async ({ run }) =>
      assert.equal(await run('node swagger-parser.js'), '3.1.0 /brands /balances false\n'),
  },
  ...generator(
    'openapi-typescript',
    `openapi-typescript ${documentFile} -o openapi-typescript.ts`,
    'openapi-fetch',
  ),
  ...generator('@hey-api/openapi-ts', `openapi-ts -i ${documentFile} -o hey-api`, 'hey-api'),
  ...generator('orval', 'orval --config orval.config.mjs', 'orval'),
  { tool: 'prism proxy', promise: 'sees no violation', run: prismProxy },
  { tool: 'prism mock', promise: 'ends a walk, refuses a limit', run: prismMock },
  {
    tool: 'openapi-to-postmanv2',
    promise: 'makes requests that work',
    run: async (stage) => {
      await stage.runQuietly(`${convert} ${withExamples}`);
      assert.deepEqual(await newman(stage, 'collection.json', bearer), [200, 200]);
    },
  },
  {
    // Postman's own settings: it invents a cursor.
    tool: 'openapi-to-postmanv2',
    promise: 'gets a 400 for invented values',
    run: async (stage) => {
      await stage.runQuietly(convert);
      assert.deepEqual(await newman(stage, 'collection.json', bearer), [400, 400]);
    },
  },
  {
    tool: 'newman',
    promise: 'runs our collection',
    run: async (stage) => {
      const variables = `--env-var baseUrl=${stage.baseUrl}`;
      const statuses = await newman(stage, collectionFile, variables);
      assert.deepEqual(statuses, [200, 200, 200, 200, 400]);
    },
  },
];
