/** Whether everything in the repository that names the version of a release agrees. Needs no build. */
import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { basePath } from '@partner-network/contract/operations';
import { openApiText } from '../openapi.ts';
import { breaksBetween } from './compatibility.ts';
import type { Files } from './repository.ts';

const store = 'packages/store/src/';
const numeric = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true });
const jsonOf = (files: Files, path: string) => JSON.parse(files.read(path) ?? '{}');

export function versionOf(files: Files): string {
  return String(jsonOf(files, 'package.json').version);
}

/** The newest release before this version that has a file, such as openapi.json. */
export function lastRelease(files: Files, version: string, file: string): string | undefined {
  const releases = files.list(`test/releases/*/${file}`).map((path) => path.split('/')[2]!);
  return releases
    .filter((release) => numeric(release, version) < 0)
    .toSorted(numeric)
    .at(-1);
}

/** The SHA-256 of each migration, by its path in packages/store/src. */
export function migrationDigests(files: Files): Record<string, string> {
  const paths = files.list(`${store}{sqlite,postgres}/*migrations/*.sql`);
  const digestOf = (path: string) => createHash('sha256').update(files.read(path)!).digest('hex');
  return Object.fromEntries(paths.map((path) => [path.slice(store.length), digestOf(path)]));
}

/** One sentence for each fault. */
export function disagreements(files: Files): string[] {
  const version = versionOf(files);
  const faults = numberFaults(version);
  if (faults.length > 0) return faults;
  return [
    manifestFaults,
    clientFaults,
    lockfileFaults,
    changelogFaults,
    apiFaults,
    frozenFaults,
    patchFaults,
    keptFaults,
  ].flatMap((faultsOf) => faultsOf(files, version));
}

/** Between releases, the version ends in -dev. */
export function numberFaults(version: string): string[] {
  if (/^\d+\.\d+\.\d+$/.test(version)) return [];
  return [`package.json has version ${version}: a release has three numbers, such as 0.1.0.`];
}

function manifestFaults(files: Files, version: string): string[] {
  return files.list('packages/*/package.json').flatMap((path) => {
    const { version: found } = jsonOf(files, path);
    return found === version ? [] : [`${path} has version ${found}, not ${version}.`];
  });
}

/** The files for partners that name the version, and where. */
export const clientPlaces: Readonly<Record<string, RegExp>> = {
  'clients/python/src/partner_network/__init__.py': /^__version__ = "(.*)"$/m,
  'clients/python/README.md': /partner_network_client-(.*)-py3/,
  'packages/client/README.md': /partner-network-client-(.*)\.tgz/,
  'docs/how-to/partners/command-line.md': /partner-network-(.*)\.tgz/,
};

function clientFaults(files: Files, version: string): string[] {
  return Object.entries(clientPlaces).flatMap(([path, place]) => {
    const [, found] = place.exec(files.read(path) ?? '') ?? [];
    return found === version ? [] : [`${path} has version ${found}, not ${version}.`];
  });
}

/** The parts of a package.json that its lockfile repeats. */
const lockedParts = [
  'name',
  'version',
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
];

function lockfileFaults(files: Files): string[] {
  const { packages = {}, ...top } = jsonOf(files, 'package-lock.json');
  // The root's name and version are in the lockfile twice.
  const locked = { ...packages, '': { ...packages[''], ...top } };
  const isWrong = (path: string) => {
    const manifest = jsonOf(files, path);
    const folder = path.replace(/\/?package\.json$/, '');
    // npm leaves a name out that is the name of the folder.
    const found = { name: basename(folder), ...locked[folder] };
    return lockedParts.some((part) => !isDeepStrictEqual(manifest[part], found[part]));
  };
  return ['package.json', ...files.list('packages/*/package.json')]
    .filter(isWrong)
    .map((path) => `package-lock.json does not agree with ${path}: run "npm install".`);
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
    ...(lines.some((line) => line.startsWith('- ')) ? [] : [`CHANGELOG.md has no entries for ${version}.`]),
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
  if (!basePath.endsWith(`/v${number.split('.')[0]}`)) {
    faults.push(`docs/openapi.json has version ${number}, but the path is ${basePath}.`);
  }
  const last = lastRelease(files, version, 'openapi.json');
  if (last === undefined) return faults;
  const released = jsonOf(files, `test/releases/${last}/openapi.json`);
  if (!isDeepStrictEqual(document, released) && numeric(number, released.info.version) <= 0) {
    faults.push(`The API changed since ${last}: raise apiVersion above ${released.info.version}.`);
  }
  const breaks = breaksBetween(released, document).filter(({ isOfBeta }) => !isOfBeta);
  return [...faults, ...breaks.map(({ text: what }) => `The API breaks clients of ${last}: ${what}`)];
}

/** Released migrations never change, and later ones come after them. */
export function frozenFaults(files: Files): string[] {
  const present = Object.entries(migrationDigests(files));
  return files.list('test/releases/*/migrations.json').flatMap((path) => {
    const released = Object.entries<string>(jsonOf(files, path));
    const inFolder = (of: string, all: typeof present) =>
      all.filter(([file]) => dirname(file) === dirname(of));
    return released
      .filter(([file, digest]) => {
        const index = inFolder(file, released).findIndex(([name]) => name === file);
        return !isDeepStrictEqual(inFolder(file, present)[index], [file, digest]);
      })
      .map(([file]) => `${store}${file} must stay as in ${path.split('/')[2]}: add a later file instead.`);
  });
}

function patchFaults(files: Files, version: string): string[] {
  const last = lastRelease(files, version, 'migrations.json');
  const minorOf = (release: string) => release.replace(/\.\d+$/, '');
  if (last === undefined || minorOf(last) !== minorOf(version)) return [];
  const isEqual = isDeepStrictEqual(
    jsonOf(files, `test/releases/${last}/migrations.json`),
    migrationDigests(files),
  );
  return isEqual ? [] : [`${version} is a patch of ${last}, but it changes the schema.`];
}

/** What is kept of a release never changes. So no other tree may have its version. */
export function keptFaults(files: Files, version: string): string[] {
  const folder = `test/releases/${version}`;
  const isKept = files.list(`${folder}/*`).length > 0;
  return isKept ? [`${version} is already kept, in ${folder}: raise the version.`] : [];
}
