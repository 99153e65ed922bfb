/** `npm run image`: what tools read in the layout. `npm run check -- release` builds it twice. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { read, root } from '../sources.ts';
import { imageIn, instruction, layout, openBundle, without, withoutImage } from './bundle.ts';

const { version } = JSON.parse(read('packages/partner-network/package.json'));

test('skopeo reads the image: how it runs, and where it comes from', {
  skip: withoutImage || without('skopeo'),
}, () => {
  const skopeo = (...words: string[]) => JSON.parse(execFileSync('skopeo', words, { encoding: 'utf8' }));
  const { config, created } = skopeo('inspect', '--config', `oci:${imageIn(layout!)}`);
  assert.equal(config.User, '65532:65532');
  assert.deepEqual(config.Entrypoint, JSON.parse(instruction('ENTRYPOINT')));
  assert.deepEqual(config.Cmd, ['serve']);
  assert.deepEqual(config.Volumes, { '/data': {} });
  assert.deepEqual(Object.keys(config.ExposedPorts), ['8080/tcp']);
  assert.ok(config.Env.includes('HOST=0.0.0.0'));
  const label = (name: string) => config.Labels[`org.opencontainers.image.${name}`];
  assert.equal(label('version'), version);
  const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
  assert.equal(label('revision').replace('-dirty', ''), git('rev-parse', 'HEAD'));
  assert.equal(Date.parse(created) / 1000, Number(git('log', '-1', '--format=%ct')));
  assert.match(label('licenses'), /^Apache-2\.0 AND .* AND MIT$/);
});

test('the layer of Node has no time: the next release has the same', {
  skip: withoutImage || without('umoci'),
}, (t) => {
  const { rootfs } = openBundle(t);
  const timeOf = (path: string) => statSync(join(rootfs, path)).mtimeMs;
  assert.equal(timeOf('usr/bin/node'), 0);
});

test('the SBOM in the image names each package and library in it', {
  skip: withoutImage || without('umoci'),
}, () => {
  const { rootfs } = openBundle({ after });
  const inside = (path: string) => readFileSync(join(rootfs, path));
  const sbom = JSON.parse(inside('usr/share/sbom/partner-network.cdx.json').toString());
  const product: string = sbom.metadata.component['bom-ref'];
  const refs: string[] = sbom.components.map((part: { 'bom-ref': string }) => part['bom-ref']);
  const node = JSON.parse(read(`node_modules/node-linux-${process.arch}/package.json`));
  assert.ok(refs.includes(`${node.name}@${node.version}`));
  const folder = 'usr/lib/node_modules/partner-network/share';
  const ofPackage = JSON.parse(inside(`${folder}/partner-network.cdx.json`).toString());
  assert.deepEqual(sbom.components.slice(0, ofPackage.components.length), ofPackage.components);
  const libraries = globSync('{lib,lib64}/**/*.so.*', { cwd: rootfs });
  assert.ok(libraries.length >= 5);
  for (const path of libraries) {
    const part = sbom.components.find(({ name }: { name: string }) => name === `/${path}`);
    assert.equal(part.hashes[0].content, createHash('sha256').update(inside(path)).digest('hex'));
  }
  assert.equal(product, `partner-network@${version}`);
  const used = sbom.dependencies.flatMap((use: { ref: string; dependsOn: string[] }) => [
    use.ref,
    ...use.dependsOn,
  ]);
  for (const ref of used) assert.ok([...refs, product].includes(ref), ref);
});

const statusOf = (words: readonly string[], env = process.env) => {
  const all = ['scripts/image/main.ts', ...words];
  const { status, stderr } = spawnSync(process.execPath, all, { cwd: root, env, encoding: 'utf8' });
  return [status, stderr];
};

test('a folder that is not empty is status 1', { skip: without('buildah') }, () => {
  const said = 'docs is not empty. Give a new or empty folder.\n';
  assert.deepEqual(statusOf(['--output', 'docs']), [1, said]);
});

test('without buildah, it says what to install', () => {
  const said = 'This needs buildah: apt-get install buildah.\n';
  assert.deepEqual(statusOf(['--output', 'image'], { PATH: '' }), [1, said]);
});
