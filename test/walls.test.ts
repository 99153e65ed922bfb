/** The structure of the code: which room may import which, and no circles. */
import assert from 'node:assert/strict';
import { basename, dirname } from 'node:path';
import { test } from 'node:test';
import { files, importsOf, sources } from './sources.ts';

const server = 'packages/server/src/';

/** The rooms of the server, lowest first. A room imports from itself and from the rooms before it. */
const rooms = [
  'bounds',
  'lib',
  'observability',
  'command-line',
  'store',
  'limiter',
  'http',
  'auth',
  'cursors',
  'receipts',
  'listings',
  'tracing',
  'reference',
  'images',
  'ingest',
  'demo',
  'rehearsals',
  'serve',
  'conformance',
  'doctor',
  'commands',
  'main.ts',
];

/** What the order of rooms does not say: files under this path must not import these. */
const walls: readonly [path: string, forbidden: RegExp][] = [
  ['packages/contract/src/', /@partner-network|^packages\/(?!contract\/src\/)/],
  // The client is what a partner installs. It also runs without Node.
  ['packages/client/src/', /^(?!packages\/client\/src\/)/],
  ['packages/', /^(bench|chaos|citus|fuzz|scripts|test)\//],
  [server, /^packages\/testkit\/|\/test\//],
  // By name, the client is what was last built. The service runs its sources.
  ['packages/', /^@partner-network\/client/],
  [`${server}store/sqlite/`, /store\/postgres\//],
  [`${server}store/postgres/`, /store\/sqlite\//],
  [`${server}store/`, /^node:http/],
  [`${server}limiter/`, /src\/store\//],
  // These rooms see the store as the port describes it.
  ...['http', 'auth', 'cursors', 'receipts', 'listings', 'images'].map((room): [string, RegExp] => [
    `${server}${room}/`,
    /src\/store\/(?!port\.ts)/,
  ]),
  ...['ingest', 'demo', 'doctor'].map((room): [string, RegExp] => [
    `${server}${room}/`,
    /src\/(http|listings)\/|store\/(sqlite|postgres)\//,
  ]),
  // Conformance tests any deployment over HTTP, so it must not know how ours works.
  [`${server}conformance/`, /^(?!@partner-network\/contract|node:|packages\/server\/src\/conformance\/)/],
  // A partner's command has an address and a key, and nothing of the service.
  [
    `${server}commands/as-partner/`,
    /src\/(?!bounds|lib|command-line|conformance|commands\/as-partner)[\w-]+\/|database\.ts/,
  ],
];

/** A library, and the files that may import it. */
const libraries: readonly [library: RegExp, users: RegExp][] = [
  [/^pg(-copy-streams)?$/, /src\/store\/postgres\//],
  [/^node:sqlite$/, /src\/store\/sqlite\//],
  [/^node:worker_threads$/, /src\/store\/sqlite\//],
  [/^ioredis$/, /src\/limiter\/redis\//],
  [/^node:https$/, /src\/(images\/download|tracing\/collector-agent)\.ts$/],
  [/^@opentelemetry\//, /src\/tracing\//],
  [/^node:cluster$/, /src\/(serve\/workers\/|commands\/serve\.ts$)/],
];

const modules = sources.filter((file) => /^packages\/[^/]+\/(src\/.*|[\w/-]+)\.ts$/.test(file));
const ofServer = modules.filter((file) => file.startsWith(server));
const roomOf = (file: string) => file.slice(server.length).split('/')[0]!;

test('a room imports only from rooms below it', () => {
  const upward = ofServer.flatMap((file) =>
    importsOf(file)
      .filter((imported) => imported.startsWith(server))
      .filter((imported) => rooms.indexOf(roomOf(imported)) > rooms.indexOf(roomOf(file)))
      .map((imported) => `${file} imports ${imported}`),
  );
  assert.deepEqual(upward, []);
});

test('every room is in the list, and main.ts is the only file without a room', () => {
  assert.deepEqual([...new Set(ofServer.map(roomOf))].sort(), [...rooms].sort());
});

test('no two files import each other in a circle', () => {
  const imports = new Map(modules.map((file) => [file, importsOf(file)]));
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
  for (const file of modules) visit(file, []);
  assert.deepEqual(circles, []);
});

test('each file keeps to its walls', () => {
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

test('each library is known in its room alone', () => {
  for (const file of ofServer) {
    for (const imported of importsOf(file)) {
      const users = libraries.find(([library]) => library.test(imported))?.[1];
      assert.ok(users === undefined || users.test(file), `${file} imports ${imported}`);
    }
  }
});

test('no folder of code has more than 16 files', () => {
  const folders = Object.groupBy(
    files.filter((file) => /^(packages|bench|chaos|citus|fuzz|scripts|test)\//.test(file)),
    (file) => dirname(file),
  );
  const crowded = Object.entries(folders).filter(([, inside]) => inside!.length > 16);
  assert.deepEqual(
    crowded.map(([folder, inside]) => `${folder}: ${inside!.map((file) => basename(file)).join(' ')}`),
    [],
  );
});
