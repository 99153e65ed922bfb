/** What keeps the house tidy without anybody having to remember it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { slugOf } from '../packages/server/src/reference/guides.ts';
import { root } from './clone.ts';

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const sources = files.filter((file) => /\.(ts|js|sql|lua)$/.test(file));

/** What a program wrote is as wide as it wrote it. */
const written = sources.filter((file) => !file.endsWith('/schema.sql'));

test('no source file is longer than 300 lines, and no line longer than 110 columns', () => {
  const overlong = written.flatMap((file) => {
    const lines = read(file).trimEnd().split('\n');
    // A text that cannot be broken may stand on a line of its own.
    const wide = lines.flatMap((line, index) =>
      line.length > 110 && !/^\s*(\w+: )?['"`].*['"`],?$/.test(line) ? [`${file}:${index + 1}`] : [],
    );
    return lines.length > 300 ? [file, ...wide] : wide;
  });
  assert.deepEqual(overlong, []);
});

/** A room, and what the files in it must not import. */
const walls: readonly [room: string, forbidden: RegExp][] = [
  ['packages/contract/src/', /@partner-network|packages\/server/],
  // What a partner installs stands alone, and runs where there is no Node.
  ['packages/client/src/', /^(?!\/packages\/client\/src\/)/],
  ['packages/server/src/http/', /store\/(?!port\.ts)|node:sqlite|commands\/|ingest\/|workers\//],
  ['packages/server/src/listings/', /store\/(?!port\.ts)|node:sqlite|commands\/|ingest\/|workers\//],
  [
    'packages/server/src/store/',
    /\/http\/|node:http|listings\/|commands\/|ingest\/|limiter\/|workers\/|doctor\//,
  ],
  ['packages/server/src/store/sqlite/', /postgres\/|^pg$/],
  ['packages/server/src/store/postgres/', /sqlite/],
  ['packages/server/src/ingest/', /\/http\/|node:http|listings\/|commands\/|sqlite|postgres|workers\//],
  ['packages/server/src/images/', /store\/(?!port\.ts)|\/http\/|listings\/|commands\/|ingest\/|workers\//],
  ['packages/server/src/limiter/', /store\/|\/http\/|listings\/|commands\/|ingest\/|workers\//],
  ['packages/server/src/doctor/', /\/http\/|listings\/|commands\/|ingest\/|workers\/|sqlite|postgres/],
  ['packages/server/src/receipts/', /store\/(?!port\.ts)|\/http\/|listings\/|commands\/|ingest\/|workers\//],
  // A partner's commands have nothing but an address and a key.
  ...['partner-', 'brands-list', 'balances-list'].map((name): [string, RegExp] => [
    `packages/server/src/commands/${name}`,
    /store\/|database\.ts|\/http\/|node:http|listings\/|ingest\/|config\.ts/,
  ]),
  [
    'packages/server/src/tracing/',
    /store\/(?!port\.ts)|listings\/|commands\/|ingest\/|workers\/|receipts\/|reference\//,
  ],
  [
    'packages/server/src/reference/',
    /store\/|listings\/|commands\/|ingest\/|limiter\/|workers\/|receipts\/|demo\//,
  ],
  ['packages/server/src/workers/', /listings\/|commands\/|ingest\/|sqlite|postgres/],
];

/** A library, and the rooms that may know it. */
const libraries: readonly [library: RegExp, rooms: RegExp][] = [
  [/^pg(-copy-streams)?$/, /src\/store\/postgres\//],
  [/^node:sqlite$/, /src\/store\/sqlite\//],
  [/^node:worker_threads$/, /src\/store\/sqlite\/(receipts|imports)-/],
  [/^ioredis$/, /src\/limiter\//],
  [/^csv-parse/, /src\/ingest\/csv\.ts$/],
  [/^prom-client$/, /src\/http\/metrics\.ts$/],
  [/^image-size$/, /src\/images\/inspect\.ts$/],
  [/^node:https$/, /src\/(images\/download|tracing\/collector-agent)\.ts$/],
  [/^@opentelemetry\//, /src\/tracing\/(open-telemetry|delivery)\.ts$/],
  [/^node:cluster$/, /src\/(workers\/|commands\/serve\.ts$)/],
];

test('each library is known in its room alone', () => {
  for (const file of sources.filter((name) => /^packages\/server\/src\/.*\.ts$/.test(name))) {
    for (const [, imported = ''] of read(file).matchAll(/(?:from|import\() ?'([^']+)'/g)) {
      const rooms = libraries.find(([library]) => library.test(imported))?.[1];
      assert.ok(rooms === undefined || rooms.test(file), `${file} imports ${imported}`);
    }
  }
});

test('each file keeps to its room', () => {
  for (const [room, forbidden] of walls) {
    const inhabitants = sources.filter((file) => file.startsWith(room) && file.endsWith('.ts'));
    assert.ok(inhabitants.length > 0, `${room} is empty`);
    for (const file of inhabitants) {
      for (const [, imported = ''] of read(file).matchAll(/(?:from|import\() ?'([^']+)'/g)) {
        const target = imported.startsWith('.') ? `/${join(dirname(file), imported)}` : imported;
        assert.ok(!forbidden.test(target), `${file} imports ${imported}`);
      }
    }
  }
});

/** A document without its blocks of code, in which a `#` begins no section and brackets are no link. */
const proseOf = (file: string) => read(file).replaceAll(/^```.*?^```$/gms, '');

/** The names by which the sections of a document are linked to. */
function sectionsOf(file: string): string[] {
  return [...proseOf(file).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => slugOf(title));
}

test('every link of the documents leads to a file, and to a section that it has', () => {
  for (const file of files.filter((name) => name.endsWith('.md'))) {
    for (const [link, target, section] of proseOf(file).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)) {
      const path = target === '' ? file : join(dirname(file), target!);
      assert.ok(existsSync(join(root, path)), `${file} links to ${target}`);
      assert.ok(section === '' || sectionsOf(path).includes(section!), `${file} has the link [${link}`);
    }
  }
});

test('every log of the service is made in log.ts, which keeps back what errors of drivers hold', () => {
  const loggers = /import (?!type\b)[^;]*from 'pino'|import\('pino'\)/;
  const makers = sources.filter((file) => /^packages\/server\/src\//.test(file) && loggers.test(read(file)));
  assert.deepEqual(makers, ['packages/server/src/log.ts']);
});

test('whatever a test logs is searched for secrets: no test makes a log of its own', () => {
  const watch = 'packages/server/test/support/watch-logs.ts';
  const loggers = /from 'pino'|createLog\b/;
  const tests = sources.filter((file) => /(^|\/)test\/.*\.ts$/.test(file) && loggers.test(read(file)));
  // The one beside it looks at how lines are written, and writes none of a service's.
  assert.deepEqual(tests, ['packages/server/test/log-process.test.ts', watch, 'test/tidy.test.ts']);
});
