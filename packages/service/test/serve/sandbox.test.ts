import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openSqlite } from '../../../store/src/sqlite/open.ts';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { assertFailed, run, start } from '../../../testkit/fixtures/run.ts';
import { documentedFetch } from '../../../testkit/watch/documented.ts';
import { environmentOfKey } from '../../src/auth/api-key.ts';

const limits = { timeout: 30_000 };

interface Call {
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** Starts a sandbox and reads the calls in its greeting. */
async function greeted(t: TestContext, folder: string) {
  const running = start(t, ['sandbox', '--port', '0', '--data', folder]);
  await running.says('stdout', /Press Ctrl-C to stop\.\n/);
  const { stdout } = running.texts();
  const calls: Call[] = [...stdout.matchAll(/^ *curl -H '([^:']+): ([^']+)' '([^']+)'$/gm)].map(
    ([, header, value, url]) => ({ url: url!, headers: { [header!]: value! } }),
  );
  return { ...running, stdout, calls };
}

test('greets with its base URL, its reference, a demo key and calls that work', limits, async (t) => {
  const { stdout, calls, signal, ended } = await greeted(t, temporaryFolder(t));
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
  assert.equal((await fetch(String(reference))).status, 200);
  const shown = await (await fetch(`${reference}/guides.json`)).json();
  const { demoKey, guides } = shown as { demoKey: string; guides: { name: string }[] };
  assert.equal(demoKey, key);
  const names = guides.map(({ name }) => `${reference}#tag/${name}`);
  assert.ok(names.some((address) => stdout.includes(`\n${address} lists more demo keys`)));
  signal('SIGTERM');
  assert.equal(await ended, 0);
});

test('fills only an empty sandbox, and keeps changes', limits, async (t) => {
  const folder = temporaryFolder(t);
  const first = await greeted(t, folder);
  first.signal('SIGINT');
  assert.equal(await first.ended, 0);
  const flags = ['--environment', 'sandbox', '--database', `sqlite:${join(folder, 'sandbox.db')}`, '--json'];
  const listed = JSON.parse((await run(['partners', 'list', ...flags])).stdout) as { id: string }[];
  assert.ok(listed.length >= 2);
  for (const { id } of listed) await run(['partners', 'disable', id, ...flags]);
  const { calls } = await greeted(t, folder);
  const [call] = calls;
  assert.equal((await documentedFetch(call!.url, { headers: call!.headers })).status, 403);
});

test('refuses a folder with a production database', limits, async (t) => {
  const folder = temporaryFolder(t);
  await openSqlite(join(folder, 'sandbox.db'), 'production', 'create').close();
  assertFailed(await run(['sandbox', '--port', '0', '--data', folder]), 1, /production database/);
});

test('reports a bad flag and a bad variable at once', async () => {
  const finished = await run(['sandbox', '--port', 'x', '--database', 'sqlite:a'], {
    variables: { LOG_LEVEL: 'loud' },
  });
  assertFailed(finished, 2, /--port must be/, /no flag --database/, /LOG_LEVEL must be/);
});
