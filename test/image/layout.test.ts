/** The files of the image: archives and an OCI layout that depend on their content alone. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { packageIn, runtimeConfig } from '../../scripts/image/build.ts';
import { dependenciesOf, filesOf } from '../../scripts/image/dependencies.ts';
import { type Image, writeLayout } from '../../scripts/image/layout.ts';
import { type Entry, executable, file, readTar, writeTar } from '../../scripts/image/tar.ts';
import { read, root } from '../sources.ts';

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

test('an archive has every file once, sorted, with the folders around it and no time', () => {
  const archive = writeTar(entries);
  const found = readTar(archive);
  const paths = found.map(({ path }) => path);
  assert.deepEqual(paths, paths.toSorted());
  assert.equal(new Set(paths).size, paths.length);
  for (const { path, mode, owner = 0, content } of entries) {
    assert.deepEqual(
      found.filter((entry) => entry.path === path),
      [{ path, mode, owner, ...(content && { content }) }],
    );
  }
  assert.ok(paths.includes('usr/bin/'));
  assert.deepEqual(writeTar(entries.toReversed()), archive);
});

test('files of a package are readable for the user of the image, also if a umask made them private', () => {
  const packed = [
    { ...file('package/main.js', '1'), mode: 0o600 },
    { ...executable('package/bin/x.js', '2'), mode: 0o700 },
  ];
  const modes = packageIn(gzipSync(writeTar(packed))).map(({ path, mode }) => [path, mode]);
  assert.deepEqual(Object.fromEntries(modes), { 'bin/x.js': 0o755, 'main.js': 0o644 });
});

test('a path that does not fit and a damaged archive are errors', () => {
  assert.throws(() => writeTar([file(`${'x'.repeat(101)}`, '')]), /too long for a tar file/);
  const archive = writeTar(entries);
  archive.write('0000777', 100);
  assert.throws(() => readTar(archive), /Unexpected entry in the tar file/);
});

test('a layout names each blob by its digest, and the same image gives the same digest', async (t) => {
  const folder = temporaryFolder(t);
  const digest = await writeLayout(folder, image, 6);
  assert.equal(await writeLayout(temporaryFolder(t), { ...image }, 6), digest);
  assert.notEqual(
    await writeLayout(temporaryFolder(t), { ...image, created: '2026-01-03T00:00:00Z' }, 6),
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

test('the dependencies are those of the lockfile, with optional packages and without their types', () => {
  const manifest = JSON.parse(read('packages/server/package.json'));
  const installed = dependenciesOf(root, manifest);
  const locked = JSON.parse(read('package-lock.json')).packages;
  const places = installed.map(({ place }) => place);
  for (const place of ['node_modules/pg', 'node_modules/pg-protocol', 'node_modules/@opentelemetry/core']) {
    assert.ok(places.includes(place), place);
  }
  for (const { place, version } of installed) assert.equal(version, locked[place].version);
  assert.deepEqual(
    places.filter((place) => locked[place].dev),
    [],
  );
  const files = filesOf(join(root, 'node_modules/pino')).map(({ path }) => path);
  assert.ok(files.includes('pino.js') && files.includes('LICENSE'));
  assert.ok(!files.includes('pino.d.ts'));
});

test('a dependency that is not installed as the lockfile says is an error', (t) => {
  const folder = temporaryFolder(t);
  const packages = { 'node_modules/one': { version: '1.0.0' } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
  const needing = (name: string) => () =>
    dependenciesOf(folder, { name: 'x', version: '1', description: '', dependencies: { [name]: '1.0.0' } });
  assert.throws(
    needing('one'),
    /node_modules\/one is not installed as package-lock\.json says\. Run "npm ci"/,
  );
  assert.throws(needing('two'), /package-lock\.json has no two/);
  mkdirSync(join(folder, 'node_modules/one'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/one/package.json'), '{"name":"one","version":"1.0.1"}');
  assert.throws(needing('one'), /Run "npm ci"/);
});
