/** The image that the tests run: the layout that TEST_IMAGE names, or a fresh one without its archives. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Lifetime, temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { writeFiles } from '../../scripts/image/files.ts';
import { read, root } from '../sources.ts';
import type { Bundle } from './runc.ts';

const given = process.env.TEST_IMAGE;
export const layout = given === undefined ? undefined : resolve(root, given);

/** Why tests of a whole image are skipped, or false. */
export const withoutImage = layout === undefined && 'is part of npm run check -- image';

/** Why tests with this tool are skipped, or false. */
export const without = (tool: 'umoci' | 'skopeo' | 'buildah' | 'podman') =>
  programsOnPath([tool]).length === 0 && `needs ${tool} (apt-get install ${tool})`;

export const containerfile = 'deploy/Containerfile';

/** The words of an instruction in the stages of the image. */
export function instruction(name: string): string {
  const [, stages = ''] = read(containerfile)
    .replaceAll(/\\\n\s*/g, '')
    .split('FROM scratch');
  return new RegExp(`^${name} (.*)$`, 'm').exec(stages)?.[1] ?? assert.fail(`no ${name}`);
}

/** The name of the only image in a layout, for tools. */
export function imageIn(folder: string): string {
  const [manifest] = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')).manifests;
  return `${folder}:${manifest.annotations['org.opencontainers.image.ref.name']}`;
}

export function openBundle(t: Lifetime): Bundle {
  return layout === undefined ? freshBundle(t) : unpack(t, layout);
}

/** Puts the files of all layers together. Archives, digests and umoci would take many seconds of CPU more. */
function freshBundle(t: Lifetime): Bundle {
  const files = temporaryFolder(t);
  const rootfs = temporaryFolder(t);
  writeFiles(files, new Date(0).toISOString());
  const layers = ['volume', 'node', 'package'];
  execFileSync('cp', ['--archive', ...layers.map((layer) => `${files}/${layer}/.`), rootfs]);
  chmodSync(rootfs, 0o755);
  const [uid = 0, gid = 0] = instruction('USER').split(':').map(Number);
  const args = JSON.parse(instruction('ENTRYPOINT'));
  const env = instruction('ENV').split(' ');
  return { rootfs, process: { args, env, cwd: instruction('WORKDIR'), user: { uid, gid } } };
}

/** umoci also turns the image's configuration into that of a container. */
function unpack(t: Lifetime, folder: string): Bundle {
  const bundle = join(temporaryFolder(t), 'bundle');
  execFileSync('umoci', ['unpack', '--image', imageIn(folder), bundle]);
  const { process } = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8'));
  // Tests name their own command.
  return { rootfs: join(bundle, 'rootfs'), process: { ...process, args: process.args.slice(0, -1) } };
}
