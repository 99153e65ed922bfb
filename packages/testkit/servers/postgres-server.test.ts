/** Tests of the servers for tests: separate databases, restarts, and no leftover servers. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { longRunOnly } from '../fixtures/long-run.ts';
import { connectTo, databaseLike, emptyDatabase, startPostgres, withoutOwnServers } from './postgres.ts';

const skip = longRunOnly || withoutOwnServers();

async function note(client: pg.Client, text: string): Promise<void> {
  await client.query('create table if not exists notes (text text)');
  await client.query('insert into notes values ($1)', [text]);
}

async function notes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query('select text from notes order by text');
  return rows.map(({ text }) => text);
}

test('every test gets an empty database, which is dropped after the test', async (t) => {
  const urls: string[] = [];
  for (const name of ['the first', 'the second']) {
    await t.test(name, async (inner) => {
      const url = await emptyDatabase(inner);
      urls.push(url);
      await note(await connectTo(inner, url), name);
      assert.deepEqual(await notes(await connectTo(inner, url)), [name]);
    });
  }
  for (const url of urls) await assert.rejects(connectTo(t, url), { code: '3D000' });
});

test('a filled database is filled once and copied for each test', async (t) => {
  let fills = 0;
  const copy = () =>
    databaseLike(t, 'with a note', async (url) => {
      fills += 1;
      await t.test('fill', async (inner) => note(await connectTo(inner, url), 'of the template'));
    });
  const [one, other] = await Promise.all([copy(), copy()]);
  await note(await connectTo(t, one), 'of one copy');
  assert.deepEqual(await notes(await connectTo(t, one)), ['of one copy', 'of the template']);
  assert.deepEqual(await notes(await connectTo(t, other)), ['of the template']);
  assert.equal(fills, 1);
});

test('a killed or stopped server closes all connections, and restarts with its data and settings', {
  skip,
}, async (t) => {
  const server = await startPostgres(t, { application_name: "it's mine" });
  for (const end of [server.kill, server.stop, () => server.stop('immediate')]) {
    const client = await connectTo(t, server.url());
    await note(client, 'kept');
    const hungUp = new Promise((resolve) => client.once('end', resolve));
    await end();
    await hungUp;
    await assert.rejects(connectTo(t, server.url()), { code: 'ECONNREFUSED' });
    await server.start();
  }
  const client = await connectTo(t, server.url());
  assert.deepEqual(await notes(client), ['kept', 'kept', 'kept']);
  const { rows } = await client.query('show application_name');
  assert.equal(rows[0].application_name, "it's mine");
});

test('a server does not outlive the process that started it, even if the process is killed', {
  skip,
}, async (t) => {
  const script = `
    import { startPostgres } from '${new URL('./postgres-start.ts', import.meta.url)}';
    const server = await startPostgres({ after: () => {} });
    console.log(JSON.stringify({ url: server.url(), folder: server.folder }));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  t.after(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  const { url, folder } = JSON.parse(String(line));
  assert.ok(existsSync(folder));
  child.kill('SIGKILL');
  while (existsSync(folder)) await wait(20);
  await assert.rejects(connectTo(t, url), { code: 'ECONNREFUSED' });
});
