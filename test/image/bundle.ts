/** The image that the tests run: the layout that TEST_IMAGE names, or a fresh one without its archives. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import type { Lifetime } from '../../packages/testkit/fixtures/lifetime.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { makeImage } from '../../scripts/image/build.ts';
import { buildServer } from '../../scripts/packages/server.ts';
import { root } from '../sources.ts';
import type { Bundle } from './runc.ts';

const given = process.env.TEST_IMAGE;
export const layout = given === undefined ? undefined : resolve(root, given);

/** Why tests of a whole image are skipped, or false. */
export const withoutImage = layout === undefined && 'is part of npm run check -- image';

/** Why tests with this tool are skipped, or false. */
export const without = (tool: 'umoci' | 'skopeo' | 'buildah' | 'podman') =>
  programsOnPath([tool]).length === 0 && `needs ${tool} (apt-get install ${tool})`;

/** The name of the only image in a layout, for tools. */
export function imageIn(folder: string): string {
  const [manifest] = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')).manifests;
  return `${folder}:${manifest.annotations['org.opencontainers.image.ref.name']}`;
}

export function openBundle(t: Lifetime): Bundle {
  return layout === undefined ? freshBundle(t) : unpack(t, layout);
}

/** Writes the files of the layers. Archives, digests and umoci would take eight seconds of CPU more. */
function freshBundle(t: Lifetime): Bundle {
  const rootfs = temporaryFolder(t);
  const { layers, config } = makeImage(builtPackage(t));
  for (const { path, mode, owner = 0, content } of layers.flatMap(({ entries }) => entries)) {
    const place = join(rootfs, path);
    mkdirSync(content === undefined ? place : dirname(place), { recursive: true });
    if (content !== undefined) writeFileSync(place, content);
    chmodSync(place, mode);
    chownSync(place, owner, owner);
  }
  const [uid = 0, gid = 0] = config.User.split(':').map(Number);
  const process = { args: config.Entrypoint, env: config.Env, cwd: config.WorkingDir, user: { uid, gid } };
  chmodSync(rootfs, 0o755);
  return { rootfs, process };
}

/** What npm would pack. npm itself builds in the package's folder, as another test may at the same time. */
function builtPackage(t: Lifetime): string {
  const folder = temporaryFolder(t);
  for (const name of ['package.json', 'bin']) {
    cpSync(join(root, 'packages/partner-network', name), join(folder, name), { recursive: true });
  }
  buildServer(join(folder, 'dist'));
  return folder;
}

/** umoci also turns the image's configuration into that of a container. */
function unpack(t: Lifetime, folder: string): Bundle {
  const bundle = join(temporaryFolder(t), 'bundle');
  execFileSync('umoci', ['unpack', '--image', imageIn(folder), bundle]);
  const { process } = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8'));
  // Tests name their own command.
  return { rootfs: join(bundle, 'rootfs'), process: { ...process, args: process.args.slice(0, -1) } };
}
