import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { assertFailed, run } from '../../testkit/fixtures/run.ts';

interface Listed {
  readonly name: string;
  readonly about: string;
  readonly path: string;
}

const listed = async (): Promise<Listed[]> => JSON.parse((await run('files --json')).stdout);

test('files lists every guide for operators, and what the guides name', async () => {
  const all = await listed();
  const [first] = all;
  const folder = first!.path.slice(0, -first!.name.length);
  const names = all.map(({ name }) => name);
  for (const pattern of ['docs/*/operators/*', 'deploy/**/*.{service,timer,socket,yaml}']) {
    const found = globSync(pattern, { cwd: folder });
    assert.ok(found.length > 4, pattern);
    for (const name of found) assert.ok(names.includes(name), name);
  }
  const { stdout } = await run('files');
  for (const { name, about, path } of all) {
    assert.ok(stdout.includes(`\n${name} `) || about === '', name);
    assert.equal(path, join(folder, name));
    assert.match(about, /\.(json|yaml)$/.test(name) ? /^(\w.*)?$/ : /^\w/, name);
  }
});

/** Pages for other people, and pictures, which a terminal cannot show. */
const forOthers = /^packages\/|\/README\.md$|\/(partners|contributors|pictures)\//;

test('a guide names only files that "files" has', async () => {
  const all = await listed();
  const names = new Set(all.map(({ name }) => name));
  for (const { name, path } of all.filter(({ name }) => /^docs\/.*\/operators\/.*\.md$/.test(name))) {
    const text = readFileSync(path, 'utf8');
    for (const [, asked = ''] of text.matchAll(/partner-network files ([\w.@/-]+)/g)) {
      assert.equal([...names].filter((each) => `/${each}`.endsWith(`/${asked}`)).length, 1, asked);
    }
    for (const [, target = ''] of text.matchAll(/\]\((?![a-z]+:|#)([^)#]+)/g)) {
      const linked = join(dirname(name), target);
      if (!forOthers.test(linked)) assert.ok(names.has(linked), `${name}: ${target}`);
    }
  }
});

test('files prints a file unchanged, by the end of its name', async () => {
  const file = (await listed()).find(({ name }) => name.endsWith('/haproxy.cfg'))!;
  for (const name of ['haproxy.cfg', 'operators/haproxy.cfg', file.name]) {
    const { status, stdout, stderr } = await run(['files', name]);
    assert.deepEqual([status, stdout, stderr], [0, readFileSync(file.path, 'utf8'), '']);
  }
});

test('files suggests a name, and reads nothing that it does not list', async () => {
  assertFailed(
    await run('files haproxy.cgf'),
    1,
    /^There is no file "haproxy\.cgf"\. Did you mean "haproxy\.cfg"\?/,
  );
  for (const name of ['../../etc/passwd', '/etc/passwd', 'package.json', 'proxy.cfg', '']) {
    assertFailed(await run(['files', name]), 1, /^There is no file /);
  }
  assertFailed(await run('files SECURITY.md --json'), 2, /^Leave out --json/);
});
