/** Signing out of the console. */

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openInstance } from '../admin/scene.ts';
import { browserAt, consoleScene } from './scene.ts';

for (const engine of ['sqlite', 'postgres']) {
  test(`a session holds on every instance, and signing out ends it there (${engine})`, async (t) => {
    const scene = await consoleScene(t, engine);
    const support = await scene.as('SUPPORT');
    const second = await scene.as('SUPPORT');
    const another = await openInstance(t, scene.database);
    const copies = [scene, another].map(({ address }) => browserAt(address, support.cookie));
    const statuses = async (browsers: readonly ReturnType<typeof browserAt>[]) =>
      (await Promise.all(browsers.map(({ get }) => get('/console/partners/acme')))).map(
        ({ status }) => status,
      );
    assert.deepEqual(await statuses(copies), [200, 200]);
    const change = { token: await copies[0]!.token(), reason: 'x' };
    const { status, to } = await support.post('/console/sign-out');
    assert.deepEqual([status, to], [303, '/console']);
    assert.match((await support.get('/console')).text, /<h1>Sign in<\/h1>/);
    assert.deepEqual(await statuses(copies), [401, 401]);
    for (const copy of copies)
      assert.equal((await copy.send('/console/keys/KEY_0/revoke', change)).status, 401);
    assert.equal((await scene.store.findKeyById('KEY_0'))?.revoked_at, undefined);
    // The session is ended, and not its key.
    assert.deepEqual(await statuses([second, await scene.as('SUPPORT')]), [200, 200]);
  });
}

test('nobody is signed out and no page is shown while the database does not answer', async (t) => {
  const { as, open, database } = await consoleScene(t);
  const viewer = await as('VIEWER');
  const copy = open(viewer.cookie);
  const db = new DatabaseSync((database as { path: string }).path);
  t.after(() => db.close());
  db.exec('begin immediate');
  const failed = await viewer.post('/console/sign-out');
  assert.deepEqual([failed.status, failed.headers.getSetCookie()], [503, []]);
  assert.match(failed.text, /You are still signed in\./);
  db.exec('rollback; alter table ended_sessions rename to moved');
  const shown = await copy.get('/console/partners/acme');
  assert.equal(shown.status, 500);
  assert.doesNotMatch(shown.text, /KEY_0|Sign out/);
  db.exec('alter table moved rename to ended_sessions');
  assert.equal((await copy.get('/console/partners/acme')).status, 200);
  assert.equal((await viewer.post('/console/sign-out')).status, 303);
  assert.equal((await copy.get('/console/partners/acme')).status, 401);
});

test('a reloaded form leads to the start', async (t) => {
  const { as } = await consoleScene(t);
  const viewer = await as('VIEWER');
  for (const path of ['/console/sign-in', '/console/sign-out', '/console/search']) {
    const { status, to } = await viewer.get(path);
    assert.deepEqual([status, to], [303, '/console']);
  }
  assert.match((await viewer.get('/console')).text, /<h1>Home<\/h1>/);
});
