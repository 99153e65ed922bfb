/** The structure of the code: which package may import which, and no circles. */
import assert from 'node:assert/strict';
import { basename, dirname } from 'node:path';
import { test } from 'node:test';
import { clientPlaces } from '../scripts/release/agreement.ts';
import { files, importsOf, isFast, pathOf, read, sources } from './sources.ts';

/** The packages, lowest first. Each imports only packages before it. */
const packages = ['contract', 'client', 'common', 'store', 'http', 'service', 'operator', 'partner'];
const published = 'partner-network';

/**
 * The floors of a package, lowest first: folders, and files beside them. A folder imports from itself and
 * from lower floors, not from another folder of its floor.
 */
const floors: Readonly<Record<string, readonly (readonly string[])[]>> = {
  service: [
    ['limiter'],
    ['auth.ts'],
    ['cursors.ts'],
    ['batch-writer.ts'],
    ['receipts.ts'],
    ['listings.ts'],
    ['tracing'],
    ['settings.ts'],
    ['site'],
    ['serve'],
    ['rehearsals'],
  ],
  operator: [
    ['ingest', 'images', 'identity'],
    ['doctor'],
    // Demo data is imported like any other data, so that it is checked by the same rules.
    ['demo'],
    ['operations'],
    ['admin'],
    ['console'],
    ['commands'],
  ],
};

/** What the order of packages does not say: files under this path must not import these. */
const walls: readonly [path: string, forbidden: RegExp][] = [
  // These packages are on the same level: neither may import the other.
  ['packages/http/', /^@partner-network\/store/],
  ['packages/partner/', /^@partner-network\/operator/],
  // The client is what a partner installs. It also runs without Node.
  ['packages/client/src/', /^(?!packages\/client\/src\/)/],
  ['packages/', /^(checks|scripts|test)\//],
  ['packages/store/src/sqlite/', /src\/postgres\//],
  ['packages/store/src/postgres/', /src\/sqlite\//],
  ['packages/store/', /^node:http/],
  ['packages/service/src/limiter/', /\/store/],
  // These places see the store as the port describes it.
  ...[
    'service/src/auth.ts',
    'service/src/cursors.ts',
    'service/src/receipts.ts',
    'service/src/listings.ts',
    'operator/src/images/',
  ].map((place): [string, RegExp] => [`packages/${place}`, /^@partner-network\/store\/(?!port$)/]),
  ...['ingest', 'demo', 'doctor'].map((folder): [string, RegExp] => [
    `packages/operator/src/${folder}/`,
    /^@partner-network\/(http|service\/listings|store\/(sqlite|postgres))/,
  ]),
  // Conformance tests any deployment over HTTP, so it must not know how ours works.
  [
    'packages/partner/src/conformance/',
    /^(?!@partner-network\/(contract|common\/text$)|node:|packages\/partner\/src\/conformance\/)/,
  ],
  // A partner's command has an address and a key, and nothing of the service.
  ['packages/partner/src/commands/', /^@partner-network\/(?!common|contract|client$)|rehearse\//],
];

/** A library, and the files that may import it. */
const libraries: readonly [library: RegExp, users: RegExp][] = [
  [/^pg(-copy-streams)?$/, /^packages\/store\/src\/postgres\//],
  [/^node:sqlite$/, /^packages\/store\/src\/sqlite\//],
  [/^node:worker_threads$/, /^packages\/store\/src\/sqlite\//],
  [/^minisearch$/, /^packages\/service\/src\/site\//],
  [/^string-width$/, /^packages\/common\/src\/command-line\//],
  [/^ioredis$/, /^packages\/service\/src\/limiter\/redis\//],
  [/^node:https$/, /src\/(images\/download|tracing\/collector)\.ts$/],
  [/^node:cluster$/, /src\/(serve\/workers\/|commands\/serve\.ts$)/],
];

const modules = sources.filter((file) => /^packages\/[^/]+\/(src\/.*|[\w/-]+)\.ts$/.test(file));
const shipped = modules.filter((file) => /^packages\/[^/]+\/src\//.test(file));
const packageOf = (file: string) => file.split('/')[1]!;

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string>>;
}
const manifestOf = (name: string): Manifest => JSON.parse(read(`packages/${name}/package.json`));

/** The imports of our other packages: the importing file, the package and the name in it. */
const between = shipped.flatMap((file) =>
  importsOf(file).flatMap((imported) => {
    const [, name, module] = /^@partner-network\/([^/]+)(.*)$/.exec(imported) ?? [];
    return name === undefined ? [] : [{ file, imported, from: packageOf(file), name, module: `.${module}` }];
  }),
);

test('a package imports only packages below it, by what they export', () => {
  const order = [...packages, published];
  assert.deepEqual([...new Set(shipped.map(packageOf))].sort(), order.toSorted());
  for (const { file, imported, from, name, module } of between) {
    assert.ok(order.indexOf(name) < order.indexOf(from), `${file} imports ${imported}`);
    const { exports } = manifestOf(name);
    assert.ok('./*' in exports || module in exports, `${file} imports ${imported}, which is not exported`);
  }
  const bypaths = shipped.flatMap((file) =>
    importsOf(file)
      .filter((imported) => imported.startsWith('packages/') && packageOf(imported) !== packageOf(file))
      .map((imported) => `${file} imports ${imported}`),
  );
  assert.deepEqual(bypaths, []);
});

test('what a package exports is imported by another', () => {
  for (const name of packages) {
    const used = new Set(between.filter((each) => each.name === name).map(({ module }) => module));
    const exported = Object.keys(manifestOf(name).exports).filter((module) => module !== './*');
    assert.deepEqual(
      exported.filter((module) => !used.has(module)),
      [],
      name,
    );
  }
});

test('all packages have one version, also in the lockfile, and it ends in -dev between releases', () => {
  const { version, packages: locked } = JSON.parse(read('package-lock.json'));
  for (const path of [
    'package.json',
    ...[...packages, published].map((name) => `packages/${name}/package.json`),
  ]) {
    assert.equal(JSON.parse(read(path)).version, version, path);
    assert.equal(locked[path.replace(/\/?package\.json$/, '')].version, version, path);
  }
  for (const [path, place] of Object.entries(clientPlaces)) {
    assert.equal(place.exec(read(path))?.[1]?.replace('.dev0', '-dev'), version, path);
  }
  assert.match(version, /^\d+\.\d+\.\d+(-dev)?$/);
});

test('a package states what it imports, in the versions of the published package', () => {
  const all = manifestOf(published);
  const { devDependencies: tools } = JSON.parse(read('package.json'));
  const versions: Readonly<Record<string, string>> = { ...tools, ...all.dependencies };
  for (const name of [...packages, published]) {
    const own = shipped.filter((file) => packageOf(file) === name).flatMap(importsOf);
    const imported = own
      .filter((each) => !/^(node:|packages\/|\$)/.test(each))
      .map((each) => /^(@[^/]+\/)?[^/]+/.exec(each)![0]);
    const { dependencies, devDependencies } = manifestOf(name);
    const stated = { ...dependencies, ...devDependencies };
    const isOurs = (each: string) => each.startsWith('@partner-network/');
    const needed = name === published ? [...imported, ...Object.keys(all.dependencies ?? {})] : imported;
    assert.deepEqual(Object.keys(stated).toSorted(), [...new Set(needed)].toSorted(), name);
    for (const [library, version] of Object.entries(stated)) {
      assert.equal(version, isOurs(library) ? all.version : versions[library], `${name}: ${library}`);
    }
  }
});

/** The files of packages, checks and scripts, and what each imports of them. */
const graph = new Map(
  sources
    .filter((file) => /^(packages|checks|scripts)\/.*\.ts$/.test(file))
    .map((file) => [file, importsOf(file).map(pathOf)]),
);
type Graph = ReadonlyMap<string, Iterable<string>>;

/** The imports of a package from a folder of its own that is not on a lower floor. */
function upwardIn(imports: Graph, name: string): string[] {
  const own = `packages/${name}/src/`;
  const folderOf = (file: string) => file.slice(own.length).split('/')[0]!;
  const floorOf = (file: string) => floors[name]!.findIndex((floor) => floor.includes(folderOf(file)));
  return [...imports].flatMap(([file, imported]) =>
    [...imported]
      .filter((each) => file.startsWith(own) && each.startsWith(own) && folderOf(each) !== folderOf(file))
      .filter((each) => floorOf(each) >= floorOf(file))
      .map((each) => `${file} imports ${each}`),
  );
}

function circlesIn(imports: Graph): string[] {
  const finished = new Set<string>();
  const circles: string[] = [];
  function visit(file: string, path: readonly string[]): void {
    if (finished.has(file)) return;
    if (path.includes(file)) {
      circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      return;
    }
    for (const imported of imports.get(file) ?? []) visit(imported, [...path, file]);
    finished.add(file);
  }
  for (const file of imports.keys()) visit(file, []);
  return circles;
}

/**
 * What the files and folders of one folder import of each other. A folder stands for all files in it, so a
 * folder may use a file beside it, such as a port, which another file beside both connects to it.
 */
function besideEachOther(imports: Graph): Graph {
  const joined = new Map<string, Set<string>>();
  for (const [file, each] of imports) {
    for (const imported of each) {
      const from = file.split('/');
      const to = imported.split('/');
      const depth = from.findIndex((part, index) => part !== to[index]) + 1;
      if (depth === 0 || !imports.has(imported)) continue;
      const place = from.slice(0, depth).join('/');
      joined.set(place, (joined.get(place) ?? new Set()).add(to.slice(0, depth).join('/')));
    }
  }
  return joined;
}

test('a folder of the service or of the operator imports only from folders on lower floors', () => {
  for (const [name, order] of Object.entries(floors)) {
    const own = shipped.filter((file) => packageOf(file) === name);
    assert.deepEqual([...new Set(own.map((file) => file.split('/')[3]!))].sort(), order.flat().sort(), name);
    assert.deepEqual(upwardIn(graph, name), []);
  }
  const file = 'packages/operator/src/admin/planted.ts';
  const planted = new Map([[file, ['packages/operator/src/console/html.ts']]]);
  assert.deepEqual(upwardIn(planted, 'operator'), [`${file} imports packages/operator/src/console/html.ts`]);
});

test('no files import each other in a circle', () => {
  assert.deepEqual(circlesIn(graph), []);
});

test('no folders import each other in a circle', () => {
  const checked = new Map([...graph].filter(([file]) => !file.includes('/test/')));
  assert.deepEqual(circlesIn(besideEachOther(checked)), []);
  const planted = new Map([
    ['checks/a/first.ts', ['checks/b/deep/second.ts']],
    ['checks/b/deep/second.ts', []],
    ['checks/b/third.ts', ['checks/a/fourth.ts']],
    ['checks/a/fourth.ts', []],
  ]);
  assert.deepEqual(circlesIn(planted), []);
  assert.deepEqual(circlesIn(besideEachOther(planted)), ['checks/a -> checks/b -> checks/a']);
});

test('no file imports what the list of walls forbids', () => {
  for (const [path, forbidden] of walls) {
    const behind = modules.filter((file) => file.startsWith(path));
    assert.ok(behind.length > 0, `${path} is empty`);
    for (const file of behind) {
      for (const imported of importsOf(file)) {
        const isTest = /\/(test|testkit)\//.test(file);
        assert.ok(isTest || !forbidden.test(imported), `${file} imports ${imported}`);
      }
    }
  }
});

test('only the listed files import each library', () => {
  for (const file of shipped) {
    for (const imported of importsOf(file)) {
      const users = libraries.find(([library]) => library.test(imported))?.[1];
      assert.ok(users === undefined || users.test(file), `${file} imports ${imported}`);
    }
  }
});

test('no folder of code has more than 16 files', () => {
  const folders = Object.groupBy(
    files.filter((file) => /^(packages|clients|checks|scripts|test)\//.test(file)),
    (file) => dirname(file),
  );
  const crowded = Object.entries(folders).filter(([, inside]) => inside!.length > 16);
  assert.deepEqual(
    crowded.map(([folder, inside]) => `${folder}: ${inside!.map((file) => basename(file)).join(' ')}`),
    [],
  );
});

test('a fast test imports nothing that can start a process, but may import its types', () => {
  assert.equal(isFast('packages/testkit/fixtures/lifetime.ts'), true);
  for (const slow of [
    'test/walls.test.ts',
    'packages/testkit/service/database.ts',
    'packages/operator/test/console/browser.test.ts',
  ]) {
    assert.equal(isFast(slow), false, slow);
  }
});
