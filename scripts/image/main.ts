/** `npm run image`: writes the image of the service as an OCI layout, without a daemon or a base image. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { print, runProgram, say, wholeRun } from '../../checks/lib/program.ts';
import { required } from '../../packages/common/src/command-line/options.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { writeFiles } from './files.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (path: string) => readFileSync(path, 'utf8');
const { version } = JSON.parse(textOf(join(root, 'packages/partner-network/package.json')));

const about = `
Packs partner-network and writes an image of it to a new folder, as an OCI image layout: Node, the shared
libraries of this machine that Node needs, and the package. It needs
buildah, and no daemon. The same sources, packages and libraries give the same digest, which is printed. The
image is for this processor. SOURCE_DATE_EPOCH sets its time; otherwise it has the time of the commit.

Copy it to a registry with, for example:
    skopeo copy oci:DIR:VERSION docker://registry.example/partner-network:VERSION`;

/** Builds the Containerfile without its first stage, whose files are written here. Returns the digest. */
function build(output: string): string {
  const folder = temporaryFolder(wholeRun);
  const context = join(folder, 'context');
  const { seconds, created, revision } = source();
  writeFiles(join(context, 'files'), created);
  const [, stages = ''] = textOf(join(root, 'deploy/Containerfile')).split(/^(?=FROM scratch )/m);
  writeFileSync(join(context, 'Containerfile'), stages);
  // Its images are its own. Other drivers than vfs need privileges for mounts.
  const storage = [`--root=${folder}/images`, `--runroot=${folder}/run`, '--storage-driver=vfs'];
  const flags = '--layers --isolation=chroot --identity-label=false --disable-compression=false'.split(' ');
  const values = [`VERSION=${version}`, `REVISION=${revision}`, `CREATED=${created}`];
  flags.push('--log-level=error', `--build-context=build=${context}`);
  flags.push(...values.map((value) => `--build-arg=${value}`));
  const buildah = (...words: string[]) =>
    execFileSync('buildah', [...storage, 'build', ...flags, ...words, context], { stdio: 'pipe' });
  // The time is also that of the files. The layers that rarely change have none, so that they stay the same.
  buildah('--timestamp=0', '--target=runtime', '--tag=runtime');
  mkdirSync(output, { recursive: true });
  buildah(`--timestamp=${seconds}`, `--tag=oci:${resolve(output)}:${version}`);
  return JSON.parse(textOf(join(output, 'index.json'))).manifests[0].digest;
}

/** When the sources changed last, and their commit. Both are part of the image, so the clock is not. */
function source() {
  const git = (...words: string[]) => spawnSync('git', words, { cwd: root, encoding: 'utf8' }).stdout?.trim();
  const seconds = process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct') ?? '';
  if (!/^\d{1,10}$/.test(seconds)) {
    throw new Error('The time of the sources is unknown. Set SOURCE_DATE_EPOCH to seconds since 1970.');
  }
  const created = new Date(Number(seconds) * 1000).toISOString().replace('.000', '');
  const revision = git('describe', '--always', '--dirty', '--abbrev=40', '--exclude=*') || 'unknown';
  return { seconds, created, revision };
}

await runProgram({
  usage: 'npm run image --',
  about,
  options: { output: required('DIR', (text) => text, 'where to write the image; a new or empty folder') },
  missing: ({ output }) => {
    if (programsOnPath(['buildah']).length === 0) return 'This needs buildah: apt-get install buildah.';
    const isUsed = existsSync(output) && readdirSync(output).length > 0;
    return isUsed && `${output} is not empty. Give a new or empty folder.`;
  },
  run: async ({ output }) => {
    try {
      print(build(output));
      return true;
    } catch (error) {
      say(`The image was not made. ${(error as Error).message}`);
      return false;
    }
  },
});
