/** The Containerfile: what it states as other files do, what it copies, and that builders build it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { patterns } from '../../packages/partner-network/src/files.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { imageSbom, sharedLibrariesOf } from '../../scripts/image/sbom.ts';
import { bundle } from '../../scripts/packages/bundle.ts';
import { sbomOf } from '../../scripts/packages/sbom.ts';
import { read as packed } from '../../scripts/packages/server.ts';
import { read, root } from '../sources.ts';
import { containerfile, instruction, without, withoutImage } from './bundle.ts';

test('the image starts with the flags of the command and the variables of the units', () => {
  const [, flags] = /^#!.* node (.*)$/m.exec(read('packages/partner-network/bin/partner-network.js')) ?? [];
  const [variables = ''] = /(?<=^Environment=)MALLOC.*$/m.exec(read('deploy/partner-network.service'))!;
  assert.ok(instruction('ENV').endsWith(` ${variables}`), variables);
  assert.ok(read('deploy/partner-network-admin.service').includes(`=${variables}\n`), variables);
  const [node, ...words] = JSON.parse(instruction('ENTRYPOINT'));
  assert.deepEqual(
    [node, words.slice(0, -1).join(' '), words.at(-1)],
    ['/usr/bin/node', flags, '/usr/lib/node_modules/partner-network/bin/partner-network.js'],
  );
});

test('the labels have the description of the package, and the licenses of everything in the image', {
  skip: process.platform !== 'linux' && 'needs Linux',
}, async () => {
  const { name, description } = JSON.parse(read('packages/partner-network/package.json'));
  const libraries = sharedLibrariesOf(process.execPath);
  const { places } = await bundle();
  const { components } = imageSbom(sbomOf(places), '', libraries);
  const licenses = components
    .flatMap((part) => part.licenses)
    .map((item) => ('license' in item ? item.license.id : item.expression));
  const all = [...new Set(licenses)].toSorted().join(' AND ');
  for (const [label, value] of Object.entries({ title: name, description, licenses: all })) {
    assert.ok(instruction('LABEL').includes(`org.opencontainers.image.${label}="${value}"`), value);
  }
});

test('a builder gets the files that the Containerfile copies, and no data of the checkout', () => {
  const copied = [...read(containerfile).matchAll(/^COPY (?!--)(.*) \S+$/gm)].flatMap(([, names = '']) =>
    names.split(' '),
  );
  const lines = read('.dockerignore').split('\n');
  assert.ok(lines.includes('*'));
  assert.deepEqual(
    lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1)),
    copied,
  );
  // Each pattern begins with the name of a folder or a file of the checkout.
  for (const pattern of [...packed, ...patterns])
    assert.ok(
      copied.some((name) => new RegExp(`^\\{?${name}`).test(pattern)),
      pattern,
    );
});

const base = process.env.TEST_NODE_IMAGE;
const skip =
  withoutImage ||
  without('buildah') ||
  (base === undefined && 'needs TEST_NODE_IMAGE, the name of an image with Node 24 and npm');

test('buildah builds the Containerfile, and its image passes the tests of the image', { skip }, (t) => {
  const folder = temporaryFolder(t);
  const buildah = (...words: string[]) => {
    const { status, stderr } = spawnSync('buildah', words, { cwd: root, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  };
  const name = 'localhost/partner-network:test';
  const builtOn = `NODE_IMAGE=${base}`;
  const file = `--file=${containerfile}`;
  buildah('build', file, '--format=docker', '--network=host', '--build-arg', builtOn, '--tag', name, '.');
  t.after(() => buildah('rmi', name));
  buildah('push', name, `oci:${join(folder, 'image')}:test`);
  const { status, stdout } = spawnSync(process.execPath, ['--test', 'test/image/walk.test.ts'], {
    cwd: root,
    env: { ...process.env, TEST_IMAGE: join(folder, 'image'), NODE_TEST_CONTEXT: undefined },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /^ℹ skipped 0$/m);
});
