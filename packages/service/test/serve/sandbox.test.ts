import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toCreate } from '../../../store/src/address.ts';
import { openSqlite } from '../../../store/src/sqlite/open.ts';
import { createCaller } from '../../../testkit/fixtures/http.ts';
import { temporaryFolder, until } from '../../../testkit/fixtures/lifetime.ts';
import { assertFailed, run, start } from '../../../testkit/fixtures/run.ts';
import { freePort, listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { documentedFetch } from '../../../testkit/watch/documented.ts';
import { environmentOfAdminKey, environmentOfKey } from '../../src/auth.ts';

interface Call {
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** Starts a sandbox and reads the calls in its greeting. */
async function greeted(t: TestContext, folder: string, adminPort: number, flags: readonly string[] = []) {
  const ports = ['--port', '0', '--admin-port', String(adminPort)];
  const running = start(t, ['sandbox', ...ports, '--data', folder, ...flags]);
  await running.says('stdout', /Press Ctrl-C to stop\.\n/);
  const { stdout } = running.texts();
  const calls: Call[] = [...stdout.matchAll(/^ *curl -H \\\n *'([^:']+): ([^']+)' \\\n *'([^']+)'$/gm)].map(
    ([, header, value, url]) => ({ url: url!, headers: { [header!]: value! } }),
  );
  return { ...running, stdout, calls };
}

test('greets with its base URL, its reference, a demo key and calls that work', async (t) => {
  const adminPort = await freePort();
  const { stdout, calls, signal, ended } = await greeted(t, temporaryFolder(t), adminPort);
  const baseUrl = /^ *Base URL +(http:\/\/127\.0\.0\.1:\d+\/network\/v1)$/m.exec(stdout)?.[1];
  const key = /^ *Demo key +(\S+)$/m.exec(stdout)?.[1];
  assert.equal(environmentOfKey(String(key)), 'sandbox');
  assert.ok(calls.length >= 1);
  for (const { url, headers } of calls) {
    assert.ok(url.startsWith(`${baseUrl}/`));
    assert.equal(headers.Authorization, `Bearer ${key}`);
    const response = await documentedFetch(url, { headers });
    assert.equal(response.status, 200);
    const body = (await response.json()) as Record<string, unknown[]>;
    assert.ok((body.brands ?? body.balances)!.length > 0, url);
  }
  const reference = /^ *Reference +(http:\/\/127\.0\.0\.1:\d+\/docs)$/m.exec(stdout)?.[1];
  // On a busy machine, the first requests may be shed.
  await until(20_000, async () => (await fetch(`${reference}`)).status === 200);
  assert.ok((await (await fetch(`${reference}/operations/listBrands`)).text()).includes(`value="${key}"`));
  // A word that a shell cannot break may be longer.
  for (const line of stdout.split('\n'))
    assert.ok(line.length <= 80 || /^ *(--\S+ )?('[^']*'|\S+)( \\)?$/.test(line), line);
  const guide = `${reference}/guides/sandbox`;
  assert.ok(stdout.includes(`\n${guide} lists more demo keys`));
  assert.equal((await fetch(guide)).status, 200);
  await callAdmin(stdout, `http://127.0.0.1:${adminPort}`, String(key));
  signal('SIGTERM');
  assert.equal(await ended, 0);
});

/** Calls the administrative service as the greeting says. */
async function callAdmin(stdout: string, origin: string, partnersKey: string): Promise<void> {
  const [, adminKey = ''] = /^ *Admin key +(pna_test_demo\S+)$/m.exec(stdout) ?? [];
  assert.equal(environmentOfAdminKey(adminKey), 'sandbox');
  assert.ok(stdout.includes(`Console   ${origin}/console\n  Admin API ${origin}/docs\n`));
  assert.equal((await fetch(`${origin}/docs`)).status, 200);
  const change = (name: string, bearer: string) =>
    fetch(`${origin}/admin/v1/partners/PARTNER_NORTHWIND`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    });
  assert.equal((await change('Northwind', adminKey)).status, 200);
  assert.equal((await change('Northwind', partnersKey)).status, 401);
}

test('fills only an empty sandbox, keeps changes, and needs no port for administration', async (t) => {
  const folder = temporaryFolder(t);
  const first = await greeted(t, folder, 0);
  assert.doesNotMatch(first.stdout, /Admin|Console/);
  assert.equal(first.texts().stderr, '');
  first.signal('SIGINT');
  assert.equal(await first.ended, 0);
  const path = join(folder, 'sandbox.db');
  const store = openSqlite(path, 'sandbox', {});
  const usage = await store.listUsage({ keyId: 'KEY_NORTHWIND_BRANDS', by: 'hour', limit: 2 });
  assert.ok(usage.some(({ code }) => code === 'INSUFFICIENT_SCOPES'));
  await store.close();
  const flags = ['--environment', 'sandbox', '--database', `sqlite:${path}`, '--json'];
  const listed = JSON.parse((await run(['partners', 'list', ...flags])).stdout) as { id: string }[];
  assert.ok(listed.length >= 2);
  for (const { id } of listed) await run(['partners', 'disable', id, ...flags]);
  const taken = await listenOnAnyPort(t, createServer());
  const { calls, stdout, says } = await greeted(t, folder, taken);
  assert.doesNotMatch(stdout, /Admin|Console/);
  await says('stderr', new RegExp(`^Port ${taken} on 127\\.0\\.0\\.1 is in use, .* --admin-port\\.\n$`));
  const [call] = calls;
  assert.equal((await documentedFetch(call!.url, { headers: call!.headers })).status, 403);
});

test('prints a line for each refused request, without its query; --quiet prints none', async (t) => {
  const folder = temporaryFolder(t);
  const first = await greeted(t, folder, await freePort());
  const baseUrl = (stdout: string) => /Base URL +(\S+)/.exec(stdout)![1]!;
  const [, admin = ''] = /Admin API (\S+)\/docs/.exec(first.stdout)!;
  const url = baseUrl(first.stdout);
  const key = { headers: first.calls[0]!.headers };
  const said = first.texts();
  const answers: [line: string, id: string | null][] = [];
  for (const [line, target, init] of [
    ['401 UNAUTHORIZED  GET /network/v1/brands', `${url}/brands?email=jane@example.com`, {}],
    ['400 VALUE_TOO_HIGH  GET /network/v1/brands', `${url}/brands?limit=1000`, key],
    ['404 NOT_FOUND  GET [personal data]', `${url}/jane%40example.com`, key],
    ['401 UNAUTHORIZED  GET /admin/v1/partners', `${admin}/admin/v1/partners`, {}],
  ] as const) {
    const answer = await fetch(target, init);
    answers.push([line, answer.headers.get('x-request-id')]);
    await answer.text();
  }
  const malformed = await createCaller(Number(new URL(url).port)).raw('malformed\r\n\r\n');
  answers.push(['400 MALFORMED_REQUEST  -', /X-Request-Id: (\S+)/.exec(malformed)![1]!]);
  await fetch(`${url}/brands`, key);
  await until(20_000, () => said.stderr.split('\n').length > answers.length);
  const lines = said.stderr.trim().split('\n');
  for (const line of lines) assert.match(line, /^\d\d:\d\d:\d\d UTC {2}/);
  assert.deepEqual(
    lines.map((line) => line.slice('00:00:00 UTC  '.length)),
    answers.map(([line, id]) => `${line}  ${id}`),
  );
  first.signal('SIGTERM');
  await first.ended;
  const quiet = await greeted(t, folder, 0, ['--quiet']);
  assert.equal((await fetch(`${baseUrl(quiet.stdout)}/brands`)).status, 401);
  quiet.signal('SIGTERM');
  assert.equal(await quiet.ended, 0);
  assert.equal(quiet.texts().stderr, '');
});

test('leads a command beside its data to the environment of the sandbox', async (t) => {
  const folder = temporaryFolder(t);
  await openSqlite(join(folder, 'data/sandbox.db'), 'sandbox', toCreate).close();
  const missing = /production\.db does not exist\. For the sandbox beside it, add --environment sandbox\. /;
  assertFailed(await run('partners list', { folder }), 1, missing);
  assert.equal((await run('partners list --environment sandbox', { folder })).status, 0);
  const examined = await run('doctor', { folder });
  assert.match(examined.stdout, /exist\.\n +For the sandbox beside it, add --environment sandbox\./);
  const alone = await run('partners list', { folder: temporaryFolder(t) });
  assertFailed(alone, 1, /production\.db does not exist\. Correct --database and --environment/);
});

test('refuses a folder with a production database', async (t) => {
  const folder = temporaryFolder(t);
  await openSqlite(join(folder, 'sandbox.db'), 'production', toCreate).close();
  assertFailed(await run(['sandbox', '--port', '0', '--data', folder]), 1, /production database/);
});

test('reports a bad flag and a bad variable at once', async () => {
  const finished = await run(['sandbox', '--port', 'x', '--database', 'sqlite:a'], {
    variables: { LOG_LEVEL: 'loud' },
  });
  assertFailed(finished, 2, /--port must be/, /no flag --database/, /LOG_LEVEL must be/);
});
