/** No report contains a key, an id, an amount, a brand or a cursor, whatever a deployment answers. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { keyPrefixPattern } from '@partner-network/contract/environments';
import { basePath } from '@partner-network/contract/operations';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { run } from '../../../testkit/fixtures/run.ts';
import { startTestService } from '../../../testkit/fixtures/service.ts';
import { fillDeployment, type WholeGiven } from './deployment.ts';
import { asked, inReply, json, keyOf } from './planted-bugs/plant.ts';
import { type Bug, headerIn, startBuggyProxy, withHeader } from './planted-bugs/proxy.ts';

/** A deployment that repeats everything that it is sent, in its errors and in its headers. */
const echo: Bug = async (sent, service) => {
  const reply = await service(sent);
  const key = keyOf(sent) ?? '';
  const forms = `${key.slice(8)} ${Buffer.from(key).toString('base64')}`;
  const said = `${sent.method} ${sent.target} ${sent.headers.join(' ')} ${forms}`;
  const headers = ['WWW-Authenticate', 'X-Request-Id', 'Cache-Control', 'X-Echo'].reduce(
    (all, name) => withHeader(all, name, said.replaceAll(/[^ -~]/g, '?')),
    reply.headers,
  );
  const error = { category: 'API_ERROR', code: said, detail: decodeURI(said), field: said };
  return { ...(reply.status < 400 ? reply : json(reply, { errors: [error] })), headers };
};

/** A deployment with text for balances, wrong brands, and errors that look like successes and the reverse. */
const wrong = inReply((reply, sent) => {
  const { listing } = asked(sent);
  if (listing === undefined) return reply;
  if (reply.status >= 400) return { ...reply, status: 200 };
  if (sent.method === 'HEAD') return { ...reply, status: 400 };
  if (listing === 'balances') return { ...reply, body: `No JSON: ${sent.target} ${reply.body}` };
  const { brands, cursor } = JSON.parse(reply.body);
  // The first request shows that the deployment can be tested.
  if (brands.length === 1) return reply;
  const records = brands.map((record: object) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, [value, String(value)]])),
  );
  return { ...json(reply, { errors: records, brands: records, cursor: [cursor] }), status: 400 };
});

const deployments: readonly (readonly [string, Bug])[] = [
  ['a deployment that repeats requests', echo],
  ['a deployment with wrong records', wrong],
];

const aKey = new RegExp(`${keyPrefixPattern}\\w{6}`);

/** The forms in which a secret could be written. */
const formsOf = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').slice(0, -4),
  Buffer.from(secret).toString('hex'),
];

test('reports name nothing of a deployment', { concurrency: true }, async (t) => {
  let given: WholeGiven[] = [];
  const names = deployments.map((_, index) => `tenant-${index}`);
  const fill = async (store: Parameters<typeof fillDeployment>[0]) => {
    given = await fillDeployment(store, names, 60);
  };
  const service = await startTestService(t, { data: { name: 'secrets', fill } });

  const tests = deployments.map(([what, bug], index) =>
    t.test(what, async (t) => {
      /** What was sent and answered: keys that cases made up, cursors, and every value of a record. */
      const own = Object.values(given[index]!);
      const partsOfKeys = own.filter((text) => aKey.test(text)).map((text) => text.slice(8, 40));
      const secrets = new Set<string>([...own, ...partsOfKeys]);
      const keep = (value: unknown): void => {
        if (typeof value === 'object' && value !== null) Object.values(value).forEach(keep);
        else if (String(value).length > 8 && !/^20\d\d-/.test(String(value))) secrets.add(String(value));
      };
      const watched: Bug = async (sent, send, variables) => {
        const authorization = headerIn(sent.headers, 'authorization')?.split(' ').at(-1);
        if (authorization?.startsWith('pn_')) secrets.add(authorization);
        const watchedService: typeof send = async (request) => {
          const reply = await send(request);
          if (reply.status === 200 && asked(request).listing !== undefined && reply.body !== '')
            keep(JSON.parse(reply.body));
          return reply;
        };
        return bug(sent, watchedService, variables);
      };
      const port = await startBuggyProxy(t, service.port, watched, given[index]!);
      const folder = temporaryFolder(t);
      const [junit, html] = [join(folder, 'report.xml'), join(folder, 'report.html')];
      const words = ['conformance', `http://127.0.0.1:${port}${basePath}`, '--json'];
      const variables = given[index]!;
      const { status, stdout, stderr } = await run([...words, '--junit', junit, '--html', html], {
        variables,
      });
      assert.equal(status, 1, stderr);
      const reports = {
        json: stdout + stderr,
        junit: readFileSync(junit, 'utf8'),
        html: readFileSync(html, 'utf8'),
      };
      assert.ok(secrets.size > 100);
      assert.ok(JSON.parse(stdout).cases.filter(isFailed).length > 20);
      for (const [name, report] of Object.entries(reports)) {
        assert.doesNotMatch(report, aKey, name);
        const found = [...secrets, ...own.flatMap(formsOf)].filter((secret) => report.includes(secret));
        assert.deepEqual(found, [], name);
      }
    }),
  );
  await Promise.all(tests);
});

const isFailed = ({ status }: { readonly status: string }) => status === 'failed';
