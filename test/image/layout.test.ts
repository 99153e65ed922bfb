/** The files of the image: archives and an OCI layout that depend on their content alone. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { runtimeConfig } from '../../scripts/image/config.ts';
import { filesIn, filesOf, productionPackages } from '../../scripts/image/dependencies.ts';
import { type Image, writeLayout } from '../../scripts/image/layout.ts';
import { type Entry, executable, file, writeTar } from '../../scripts/image/tar.ts';
import { root } from '../sources.ts';

const long = `${'folder-of-twenty-one/'.repeat(8)}file.js`;
const entries: readonly Entry[] = [
  file('usr/ä.txt', 'text'),
  executable('usr/bin/program', Buffer.alloc(1024, 'x')),
  file('empty', ''),
  file(long, 'far down'),
  { path: 'data/', mode: 0o750, owner: 65_532 },
];

const image: Image = {
  architecture: 'amd64',
  created: '2026-01-02T03:04:05Z',
  tag: '1.2.3',
  labels: { 'org.opencontainers.image.version': '1.2.3' },
  config: runtimeConfig(['--flag']),
  layers: [
    { about: 'one', entries },
    { about: 'two', entries: [file('two', '2')] },
  ],
};

const digestOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

const onLinux = { skip: process.platform !== 'linux' && 'needs GNU tar' };

test('an archive has every file once, sorted, with the folders around it and no time', onLinux, () => {
  const archive = writeTar(entries);
  const words = ['-tvf', '-', '--numeric-owner', '--utc', '--quoting-style=literal'];
  const listed = execFileSync('tar', words, { input: archive, encoding: 'utf8' }).trim().split('\n');
  const folders = long.split('/').slice(0, -1);
  assert.deepEqual(
    listed.map((line) => line.replace(/ +(\d+) 1970-01-01 00:00 /, ' $1 ')),
    [
      'drwxr-x--- 65532/65532 0 data/',
      '-rw-r--r-- 0/0 0 empty',
      ...folders.map((_, count) => `drwxr-xr-x 0/0 0 ${folders.slice(0, count + 1).join('/')}/`),
      `-rw-r--r-- 0/0 8 ${long}`,
      'drwxr-xr-x 0/0 0 usr/',
      'drwxr-xr-x 0/0 0 usr/bin/',
      '-rwxr-xr-x 0/0 1024 usr/bin/program',
      '-rw-r--r-- 0/0 4 usr/ä.txt',
    ],
  );
  const content = execFileSync('tar', ['-xOf', '-', 'usr/bin/program'], { input: archive });
  assert.deepEqual(content, Buffer.alloc(1024, 'x'));
  assert.deepEqual(writeTar(entries.toReversed()), archive);
});

test('files are readable for the user of the image, also if a umask made them private', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'main.js'), '1', { mode: 0o600 });
  writeFileSync(join(folder, 'program.js'), '2', { mode: 0o700 });
  const modes = filesIn(folder).map(({ path, mode }) => [path, mode]);
  assert.deepEqual(Object.fromEntries(modes), { 'main.js': 0o644, 'program.js': 0o755 });
});

test('a path that does not fit is an error', () => {
  assert.throws(() => writeTar([file('x'.repeat(101), '')]), /too long for a tar file/);
});

test('a layout names each blob by its digest, and the same image gives the same digest', async (t) => {
  const folder = temporaryFolder(t);
  const digest = await writeLayout(folder, image);
  assert.equal(await writeLayout(temporaryFolder(t), { ...image }), digest);
  assert.notEqual(
    await writeLayout(temporaryFolder(t), { ...image, created: '2026-01-03T00:00:00Z' }),
    digest,
  );

  const blobs = join(folder, 'blobs/sha256');
  for (const name of readdirSync(blobs)) assert.equal(digestOf(readFileSync(join(blobs, name))), name);
  const blob = (name: string) => readFileSync(join(blobs, name.replace('sha256:', '')));
  const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));
  assert.equal(index.manifests[0].digest, digest);
  const manifest = JSON.parse(blob(digest).toString());
  const config = JSON.parse(blob(manifest.config.digest).toString());
  assert.deepEqual(config.config, { ...image.config, Labels: image.labels });
  const archives = manifest.layers.map((layer: { digest: string }) => gunzipSync(blob(layer.digest)));
  assert.deepEqual(
    archives.map((archive: Buffer) => `sha256:${digestOf(archive)}`),
    config.rootfs.diff_ids,
  );
});

test('the dependencies are those of production, without their types', () => {
  const places = productionPackages(root);
  for (const name of ['pg', 'pg-protocol', '@opentelemetry/core']) {
    assert.ok(places.includes(`node_modules/${name}`), name);
  }
  assert.ok(!places.some((place) => /typescript|node-linux|partner-network/.test(place)));
  const files = filesOf(join(root, 'node_modules/pino')).map(({ path }) => path);
  assert.ok(files.includes('pino.js') && files.includes('LICENSE'));
  assert.ok(!files.includes('pino.d.ts'));
});

test('a dependency that is not installed as the lockfile says is an error', (t) => {
  const folder = temporaryFolder(t);
  const packages = { 'node_modules/one': { version: '1.0.0' } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
  const said = /node_modules\/one is not installed as package-lock\.json says\. Run "npm ci"/;
  assert.throws(() => productionPackages(folder), said);
  mkdirSync(join(folder, 'node_modules/one'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/one/package.json'), '{"version":"1.0.1"}');
  assert.throws(() => productionPackages(folder), said);
});
