/** A release whose parts disagree is refused, with a sentence for each fault. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { clientPlaces, disagreements, frozenFaults, versionOf } from '../../scripts/release/agreement.ts';
import { uncommittedFaults } from '../../scripts/release/artefacts.ts';
import { breaksBetween } from '../../scripts/release/compatibility.ts';
import { type Files, repository } from '../../scripts/release/repository.ts';

/** The repository with other files. Undefined removes a file. */
function withFiles(files: Files, changes: Readonly<Record<string, string | undefined>>): Files {
  return {
    list: (pattern) => {
      const kept = files.list(pattern).filter((path) => !(path in changes));
      const added = Object.keys(changes).filter(
        (path) => changes[path] !== undefined && matchesGlob(path, pattern),
      );
      return [...kept, ...added].toSorted();
    },
    read: (path) => (path in changes ? changes[path] : files.read(path)),
  };
}

const own = versionOf(repository);
/** The next release. */
const version = own.replace(/-dev$/, '');

const inClients = Object.keys(clientPlaces);

/** The manifests, the lockfile and the clients with another version. */
function atVersion(next: string): Record<string, string> {
  const text = (path: string) => repository.read(path)!;
  const manifests = ['package.json', 'package-lock.json', ...repository.list('packages/*/package.json')];
  const changed = manifests.map((path) => [path, text(path).replaceAll(`"${own}"`, `"${next}"`)]);
  const inPython = own.replace('-dev', '.dev0');
  const clients = inClients.map((path) => [path, text(path).replace(own, next).replace(inPython, next)]);
  return Object.fromEntries([...changed, ...clients]);
}

/** The tree as if it were ready for its release. */
const ready = withFiles(repository, {
  ...atVersion(version),
  'CHANGELOG.md': `# Changelog\n\n## [Unreleased]\n\n## [${version}] - 2026-11-16\n\n### Added\n\n- Much.\n`,
  // The commit of a release has them already.
  ...Object.fromEntries(repository.list(`test/releases/${version}/*`).map((path) => [path, undefined])),
});

test('a release whose parts agree has no fault', () => assert.deepEqual(disagreements(ready), []));

const changelog = 'CHANGELOG.md';
const client = 'packages/client/package.json';
const published = 'packages/partner-network/package.json';
const document = 'docs/openapi.json';

/** A file, a text in it, what replaces the text, and the fault. */
const edits: readonly (readonly [path: string, from: string | RegExp, to: string, sentence: string])[] = [
  ...inClients.map((path) => [path, version, '9.9.9', `${path} has version 9.9.9, not ${version}.`] as const),
  [client, `"${version}"`, '"9.9.9"', `${client} has version 9.9.9, not ${version}.`],
  [
    'package-lock.json',
    version,
    '9.9.9',
    'package-lock.json does not agree with package.json: run "npm install".',
  ],
  [published, '"pg": "', '"pg": "1', `package-lock.json does not agree with ${published}: .*`],
  [changelog, '- Much.', '', `${changelog} has no entries for ${version}.`],
  [changelog, '### Added', '### News', `${changelog} has a heading "News": use one of Added, .*`],
  [
    changelog,
    '## [Unreleased]\n',
    '## [Unreleased]\n\n### Added\n\n- More.\n',
    `${changelog} must begin with an empty section "\\[Unreleased\\]": .*`,
  ],
  [
    changelog,
    '2026-11-16',
    '2026-13-16',
    `${changelog} has no section "\\[${version}\\] - DATE" after "\\[Unreleased\\]".`,
  ],
  [document, 'Two read-only', '2 read-only', `${document} is out of date: run "npm run docs".`],
  [
    document,
    /("version": )"1[^"]*"/,
    '$1"2.0.0"',
    `${document} has version 2.0.0, but the path is /network/v1.`,
  ],
];

/** The text of a file of the release after an edit. */
function edited(path: string, from: string | RegExp, to: string): string {
  const text = ready.read(path)!;
  assert.notEqual(text.replace(from, to), text, path);
  return text.replace(from, to);
}

const store = 'packages/store/src';

/** Each fault, and the files that have it. */
const faults: Readonly<Record<string, Record<string, string | undefined>>> = {
  ...Object.fromEntries(edits.map(([path, from, to, said]) => [said, { [path]: edited(path, from, to) }])),
  [`${store}/sqlite/migrations/001_initial.sql must stay as in 0.0.0: add a later file instead.`]: {
    [`${store}/sqlite/migrations/001_initial.sql`]: '',
  },
  [`${store}/postgres/migrations/002_faster_records.sql must stay as in 0.0.0: .*`]: {
    [`${store}/postgres/migrations/001_more.sql`]: '',
  },
  'package.json has version 7.0.0-dev: a release has three numbers, such as 0.1.0.': atVersion('7.0.0-dev'),
  '0.1.0 is already kept, in test/releases/0.1.0: raise the version.': atVersion('0.1.0'),
};

for (const [sentence, changes] of Object.entries(faults)) {
  test(`refuses: ${sentence}`, () => {
    const found = disagreements(withFiles(ready, changes));
    assert.ok(
      found.some((fault) => new RegExp(`^${sentence}$`).test(fault)),
      found.join('\n'),
    );
  });
}

/** The tree as the version after a release that had other files. */
function afterRelease(next: string, changes: Readonly<Record<string, string | undefined>>): string[] {
  return disagreements(withFiles(repository, { ...changes, ...atVersion(next) }));
}

test('a patch that changes the schema is refused', () => {
  const older = { 'test/releases/7.0.0/migrations.json': '{}' };
  const sentence = /^7\.0\.1 is a patch of 7\.0\.0, but it changes the schema\.$/m;
  assert.match(afterRelease('7.0.1', older).join('\n'), sentence);
  assert.doesNotMatch(afterRelease('7.1.0', older).join('\n'), sentence);
});

test('a change of the API needs another version of the API, and must not break clients', () => {
  const released = repository.read(document)!;
  const text = edited(document, '"maximum": 100', '"maximum": 200');
  const found = afterRelease('7.0.1', { 'test/releases/7.0.0/openapi.json': text }).join('\n');
  assert.match(found, /^The API changed since 7\.0\.0: raise apiVersion above 1\.\d+\.\d+\.$/m);
  const broken = 'GET /brands: parameters: limit: schema: maximum was 200, and is 100.';
  assert.ok(found.split('\n').includes(`The API breaks clients of 7.0.0: ${broken}`), found);
  const same = afterRelease('7.0.1', { 'test/releases/7.0.0/openapi.json': released }).join('\n');
  assert.doesNotMatch(same, /^The API/m);
});

test('released migrations have not changed, and the API breaks no client of a release', () => {
  assert.deepEqual(frozenFaults(repository), []);
  const current = JSON.parse(repository.read(document)!);
  for (const path of repository.list('test/releases/*/openapi.json')) {
    const breaks = breaksBetween(JSON.parse(repository.read(path)!), current);
    assert.deepEqual(
      breaks.filter(({ isOfBeta }) => !isOfBeta),
      [],
      path,
    );
  }
});

test('a file that is not committed is refused, because it could be packed', (t) => {
  const folder = temporaryFolder(t);
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  assert.deepEqual(uncommittedFaults(folder), []);
  writeFileSync(join(folder, 'production.env'), 'SECRET=1');
  assert.deepEqual(uncommittedFaults(folder), ['production.env is not committed: commit or remove it.']);
});
