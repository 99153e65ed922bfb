/** `npm run release:build`: writes to release/ what a release publishes, with its sums and its origin. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { print, runProgram, say, wholeRun } from '../../checks/lib/program.ts';
import { clientFiles } from '../../packages/service/src/site/clients.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { packServer } from '../../packages/testkit/package/installed.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { nodePackage, sharedLibrariesOf } from '../image/sbom.ts';
import { componentAt } from '../packages/sbom.ts';
import { versionOf } from './agreement.ts';
import { uncommittedFaults } from './artefacts.ts';
import { repository, root } from './repository.ts';

export const sumsName = 'SHA256SUMS';
const version = versionOf(repository);
export const statementName = `partner-network-${version}.intoto.json`;

const about = `
Builds the packages and the image in the folder release/, with their SHA-256 in ${sumsName} and an in-toto
statement of what they were built from. Everything must be committed. The same commit gives the same bytes in
another folder and on another day; the image also needs the same shared libraries and the same buildah. It
needs buildah.`;

const run = (program: string, ...words: string[]) =>
  execFileSync(program, words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();

const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** Why nothing can be built here, or false. Only the image needs buildah. */
export function lackOf(hasImage = true): string | false {
  const isMissing = hasImage && programsOnPath(['buildah']).length === 0;
  if (isMissing) return 'This needs buildah: apt-get install buildah.';
  return uncommittedFaults().join('\n') || false;
}

/** Resolves to the names of the files. */
export async function buildPackages(folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const clients = clientFiles();
  for (const { name, content } of clients) writeFileSync(join(folder, name), await content());
  return [basename(packServer(folder)), ...clients.map(({ name }) => name)];
}

/** Adds the image, as one file, and what names the digests of all files. */
export function buildRest(folder: string): void {
  const layout = join(temporaryFolder(wholeRun), 'image');
  // The time of the image is that of the commit.
  run('env', '--unset=SOURCE_DATE_EPOCH', process.execPath, 'scripts/image/main.ts', '--output', layout);
  const archive = join(folder, `partner-network-${version}-linux-${process.arch}.oci.tar`);
  const fixed = '--sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX'.split(' ');
  run('tar', '--create', '--format=ustar', ...fixed, `--file=${archive}`, `--directory=${layout}`, '.');
  const subject = digestsIn(folder).map(([name, digest]) => ({ name, digest: { sha256: digest } }));
  writeFileSync(join(folder, statementName), `${JSON.stringify(statementOf(subject), undefined, 2)}\n`);
  const sums = digestsIn(folder).map(([name, digest]) => `${digest}  ${name}\n`);
  writeFileSync(join(folder, sumsName), sums.join(''));
}

const digestsIn = (folder: string) =>
  readdirSync(folder)
    .toSorted()
    .map((name) => [name, sha256(join(folder, name))] as const);

/** As in-toto.io and slsa.dev describe it. It has no time, so that it is the same on another day. */
function statementOf(subject: readonly unknown[]) {
  const node = componentAt(`node_modules/${nodePackage}`);
  const libraries = sharedLibrariesOf(join(root, 'node_modules', nodePackage, 'bin/node'));
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:partner-network:release-build:1',
        externalParameters: { version, command: 'npm ci && npm run release:build' },
        internalParameters: { buildah: run('buildah', '--version') },
        resolvedDependencies: [
          { name: 'commit', digest: { gitCommit: commitHere() } },
          { name: 'package-lock.json', digest: { sha256: sha256(join(root, 'package-lock.json')) } },
          { name: node['bom-ref'], uri: node.purl, digest: { sha512: node.hashes![0]!.content } },
          ...libraries.map(({ path, debian }) => ({
            name: path,
            uri: `pkg:deb/debian/${debian.name}@${debian.version}?arch=${debian.architecture}`,
            digest: { sha256: sha256(path) },
          })),
        ],
      },
      runDetails: { builder: { id: 'urn:partner-network:release-build' } },
    },
  };
}

export const commitHere = () => run('git', 'rev-parse', 'HEAD');

export interface Statement {
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicate: {
    readonly buildDefinition: {
      readonly resolvedDependencies: readonly {
        readonly name: string;
        readonly digest: Readonly<Record<string, string>>;
      }[];
    };
  };
}

export const readStatement = (path: string): Statement => JSON.parse(readFileSync(path, 'utf8'));

export const commitOf = ({ predicate }: Statement) =>
  predicate.buildDefinition.resolvedDependencies.find(({ name }) => name === 'commit')?.digest.gitCommit;

/** Why a folder is not a complete release of a commit; one sentence for each fault. */
export function releaseFaults(folder: string, commit: string, statement = statementName): string[] {
  const missing = [sumsName, statement].filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0)
    return missing.map((name) => `${folder} has no ${name}: run "npm run release:build".`);
  const { subject } = readStatement(join(folder, statement));
  const built = commitOf(readStatement(join(folder, statement)));
  const sums = readFileSync(join(folder, sumsName), 'utf8').trimEnd().split('\n');
  const stated = subject.map(({ name, digest }) => `${digest.sha256}  ${name}`);
  const own = `${sha256(join(folder, statement))}  ${statement}`;
  const faults = sums.flatMap((line) => {
    const [digest, name = ''] = line.split('  ');
    if (!existsSync(join(folder, name))) return [`${name} is missing.`];
    return sha256(join(folder, name)) === digest ? [] : [`${name} does not have the digest in ${sumsName}.`];
  });
  if ([...stated, own].toSorted().join() !== sums.toSorted().join()) {
    faults.push(`${sumsName} and ${statement} name other digests.`);
  }
  if (built !== commit) faults.push(`${folder} was built from the commit ${built}, not from ${commit}.`);
  return faults;
}

if (import.meta.main) {
  await runProgram({
    usage: 'npm run release:build --',
    about,
    options: {},
    missing: () => lackOf(),
    run: async () => {
      const folder = join(root, 'release');
      rmSync(folder, { recursive: true, force: true });
      say('Building the packages.');
      await buildPackages(folder);
      say('Building the image.');
      buildRest(folder);
      print(readFileSync(join(folder, sumsName), 'utf8').trimEnd());
      return true;
    },
  });
}
