/** Whether everything in the repository that names the version of a release agrees. Needs no build. */
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { apiVersion, basePath } from '@partner-network/contract/operations';
import { openApiText } from '../openapi.ts';
import { breaksBetween } from './compatibility.ts';
import type { Files } from './repository.ts';

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly [part: string]: unknown;
}

const store = 'packages/server/src/store/';
const numeric = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true });
const jsonOf = (files: Files, path: string) => JSON.parse(files.read(path) ?? '{}');

export function versionOf(files: Files): string {
  return String(jsonOf(files, 'package.json').version);
}

/** The newest release before this version that has a file, such as openapi.json. */
export function lastRelease(files: Files, version: string, file: string): string | undefined {
  const releases = files.list(`releases/*/${file}`).map((path) => path.split('/')[1]!);
  return releases
    .filter((release) => numeric(release, version) < 0)
    .toSorted(numeric)
    .at(-1);
}

/** The SHA-256 of each migration, by its path in packages/server/src/store. */
export function migrationDigests(files: Files): Record<string, string> {
  const paths = files.list(`${store}{sqlite,postgres}/*migrations/*.sql`);
  const digestOf = (path: string) => createHash('sha256').update(files.read(path)!).digest('hex');
  return Object.fromEntries(paths.map((path) => [path.slice(store.length), digestOf(path)]));
}

/** One sentence for each fault. */
export function disagreements(files: Files): string[] {
  const version = versionOf(files);
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    return [`package.json has version ${version}: a release has three numbers, such as 0.1.0.`];
  }
  return [
    manifestFaults,
    lockfileFaults,
    changelogFaults,
    apiFaults,
    frozenFaults,
    patchFaults,
    keptFaults,
  ].flatMap((faultsOf) => faultsOf(files, version));
}

const dependencyKinds = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
] as const;

function manifestFaults(files: Files, version: string): string[] {
  const paths = files.list('packages/*/package.json');
  const manifests = paths.map((path): [string, Manifest] => [path, jsonOf(files, path)]);
  const ours = new Set(manifests.map(([, { name }]) => name));
  const [, minor] = /^(\d+\.\d+)\./.exec(version)!;
  return [
    ...manifests.flatMap(([path, manifest]) => {
      const wrong = dependencyKinds
        .flatMap((kind) => Object.entries((manifest[kind] ?? {}) as Record<string, string>))
        .filter(([name, asked]) => ours.has(name) && asked !== version);
      return [
        ...(manifest.version === version ? [] : [`${path} has version ${manifest.version}, not ${version}.`]),
        ...wrong.map(([name, asked]) => `${path} depends on ${name} ${asked}, not ${version}.`),
      ];
    }),
    ...(files.read('SECURITY.md')?.replaceAll(/\s+/g, ' ').includes(` ${minor} is the newest`)
      ? []
      : [`SECURITY.md does not say that ${minor} is the newest version.`]),
  ];
}

function lockfileFaults(files: Files): string[] {
  const { packages = {}, ...top } = jsonOf(files, 'package-lock.json');
  // The root's name and version are in the lockfile twice.
  const locked: Record<string, Manifest> = { ...packages, '': { ...packages[''], ...top } };
  const folders = [
    '',
    ...files.list('packages/*/package.json').map((path) => path.replace('/package.json', '')),
  ];
  const isWrong = (folder: string) => {
    const manifest = jsonOf(files, folder === '' ? 'package.json' : `${folder}/package.json`);
    return ['name', 'version', ...dependencyKinds].some(
      (part) => !isDeepStrictEqual(manifest[part], locked[folder]?.[part]),
    );
  };
  return folders
    .filter(isWrong)
    .map((folder) => `package-lock.json is not that of ${folder || 'the root'}: run "npm install".`);
}

/** The headings of Keep a Changelog, in its order. */
const kinds = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

function changelogFaults(files: Files, version: string): string[] {
  const sections = (files.read('CHANGELOG.md') ?? '').split(/^## /m).slice(1);
  const [unreleased = '', newest = ''] = sections;
  const [title = '', ...lines] = newest.split('\n');
  const isDated = new RegExp(`^\\[${RegExp.escape(version)}\\] - \\d{4}-\\d{2}-\\d{2}$`).test(title);
  const isDate = !Number.isNaN(Date.parse(title.split(' - ')[1] ?? ''));
  const headings = sections.flatMap((section) =>
    [...section.matchAll(/^### (.*)$/gm)].map(([, name]) => name!),
  );
  return [
    ...(/^\[Unreleased\]\s*$/.test(unreleased)
      ? []
      : ['CHANGELOG.md must begin with an empty section "[Unreleased]": move its lines to the release.']),
    ...(isDated && isDate ? [] : [`CHANGELOG.md has no section "[${version}] - DATE" after "[Unreleased]".`]),
    ...(lines.some((line) => line.startsWith('- '))
      ? []
      : [`CHANGELOG.md does not say what ${version} brings.`]),
    ...headings
      .filter((name) => !kinds.includes(name))
      .map((name) => `CHANGELOG.md has a heading "${name}": use one of ${kinds.join(', ')}.`),
  ];
}

function apiFaults(files: Files, version: string): string[] {
  const text = files.read('docs/openapi.json');
  const faults = text === openApiText() ? [] : ['docs/openapi.json is out of date: run "npm run docs".'];
  const document = jsonOf(files, 'docs/openapi.json');
  const number = String(document.info?.version);
  if (number !== apiVersion)
    faults.push(`docs/openapi.json has version ${number}, the contract ${apiVersion}.`);
  if (!basePath.endsWith(`/v${number.split('.')[0]}`)) {
    faults.push(`docs/openapi.json has version ${number}, but the path is ${basePath}.`);
  }
  const last = lastRelease(files, version, 'openapi.json');
  if (last === undefined) return faults;
  const released = jsonOf(files, `releases/${last}/openapi.json`);
  if (!isDeepStrictEqual(document, released) && numeric(number, released.info.version) <= 0) {
    faults.push(`The API changed since ${last}: raise apiVersion above ${released.info.version}.`);
  }
  const breaks = breaksBetween(released, document).filter(({ isOfBeta }) => !isOfBeta);
  return [...faults, ...breaks.map(({ text: what }) => `The API breaks clients of ${last}: ${what}`)];
}

/** Released migrations never change, and later ones come after them. */
export function frozenFaults(files: Files): string[] {
  const present = Object.entries(migrationDigests(files));
  return files.list('releases/*/migrations.json').flatMap((path) => {
    const released = Object.entries<string>(jsonOf(files, path));
    const inFolder = (of: string, all: typeof present) =>
      all.filter(([file]) => dirname(file) === dirname(of));
    return released
      .filter(([file, digest]) => {
        const index = inFolder(file, released).findIndex(([name]) => name === file);
        return !isDeepStrictEqual(inFolder(file, present)[index], [file, digest]);
      })
      .map(([file]) => `${store}${file} is of ${path.split('/')[1]}: add a later file instead of a change.`);
  });
}

function patchFaults(files: Files, version: string): string[] {
  const last = lastRelease(files, version, 'migrations.json');
  const minorOf = (release: string) => release.replace(/\.\d+$/, '');
  if (last === undefined || minorOf(last) !== minorOf(version)) return [];
  const isEqual = isDeepStrictEqual(
    jsonOf(files, `releases/${last}/migrations.json`),
    migrationDigests(files),
  );
  return isEqual ? [] : [`${version} is a patch of ${last}, but it changes the schema.`];
}

/** What `npm run release:keep` wrote must be of this tree. */
function keptFaults(files: Files, version: string): string[] {
  const folder = `releases/${version}`;
  const names = [
    ...['openapi.json', 'migrations.json', `partner-network-${version}.tgz`],
    ...['sqlite.db.gz', 'sqlite.db-receipts.gz', 'postgres.sql.gz'],
  ];
  const found = files.list(`${folder}/*`);
  if (found.length === 0) return [`${folder} is missing: run "npm run release:keep".`];
  const missing = names.filter((name) => !found.includes(`${folder}/${name}`));
  const isOld = {
    'openapi.json': files.read(`${folder}/openapi.json`) !== files.read('docs/openapi.json'),
    'migrations.json': !isDeepStrictEqual(
      jsonOf(files, `${folder}/migrations.json`),
      migrationDigests(files),
    ),
  };
  return [
    ...missing.map((name) => `${folder}/${name} is missing: run "npm run release:keep".`),
    ...Object.entries(isOld)
      .filter(([name, isWrong]) => isWrong && !missing.includes(name))
      .map(([name]) => `${folder}/${name} is not of this tree: run "npm run release:keep".`),
  ];
}
