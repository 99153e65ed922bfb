/** Makes the image of the packed package: what is in it, and how it runs. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readBase } from './base.ts';
import { modules, runtimeConfig } from './config.ts';
import { filesIn, filesOf, productionPackages } from './dependencies.ts';
import type { Image } from './layout.ts';
import { imageSbom, licensesIn } from './sbom.ts';
import { type Entry, file } from './tar.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Go's names of processors, which images use. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** `folder` has the content of the package. */
export function makeImage(folder: string): Image {
  const nodePackage = `node-linux-${process.arch}`;
  const architecture = architectures[process.arch];
  const nodeFolder = join(root, 'node_modules', nodePackage);
  if (process.platform !== 'linux' || architecture === undefined || !existsSync(nodeFolder)) {
    throw new Error(
      `node_modules has no ${nodePackage}. Run "npm ci" on Linux, on an x64 or arm64 processor.`,
    );
  }
  const textOf = (path: string) => readFileSync(join(folder, path), 'utf8');
  const { name, version, description } = JSON.parse(textOf('package.json'));
  const base = readBase(nodeFolder);
  const { created, revision } = sourceOf();
  const sbom = imageSbom(created, nodePackage, base.libraries);
  return {
    architecture,
    created,
    tag: version,
    labels: {
      'org.opencontainers.image.title': name,
      'org.opencontainers.image.description': description,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': licensesIn(sbom),
      'org.opencontainers.image.created': created,
      ...(revision && { 'org.opencontainers.image.revision': revision }),
    },
    config: runtimeConfig(flagsOf(textOf('bin/partner-network.js'))),
    // The layers that change least come first: an upgrade of the package usually changes the last one alone.
    layers: [
      { about: 'Node and its shared libraries', entries: base.entries },
      {
        about: 'dependencies',
        entries: productionPackages(root).flatMap((place) =>
          below(place.replace(/^node_modules/, modules), filesOf(join(root, place))),
        ),
      },
      {
        about: `${name} ${version}`,
        entries: [
          ...below(`${modules}/partner-network`, filesIn(folder)),
          file('usr/share/sbom/partner-network.cdx.json', `${JSON.stringify(sbom, null, 2)}\n`),
        ],
      },
    ],
  };
}

const below = (folder: string, entries: readonly Entry[]) =>
  entries.map((entry) => ({ ...entry, path: `${folder}/${entry.path}` }));

/** The flags of Node in the first line of the program. */
function flagsOf(script: string): string[] {
  const [, flags] = /^#!.* node (--.*)$/m.exec(script) ?? [];
  if (flags === undefined) throw new Error('The first line of bin/partner-network.js has no flags of Node.');
  return flags.split(' ');
}

/** When the sources changed last, and their commit. Both are part of the image, so the clock is not. */
function sourceOf(): { readonly created: string; readonly revision: string | undefined } {
  const git = (...words: string[]) => {
    try {
      return execFileSync('git', words, {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim();
    } catch {
      return undefined;
    }
  };
  const seconds = process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct');
  if (seconds === undefined || !/^\d{1,10}$/.test(seconds)) {
    throw new Error('The time of the sources is unknown. Set SOURCE_DATE_EPOCH to seconds since 1970.');
  }
  const revision = git('describe', '--always', '--dirty', '--abbrev=40', '--exclude=*');
  return { created: new Date(Number(seconds) * 1000).toISOString().replace('.000', ''), revision };
}
