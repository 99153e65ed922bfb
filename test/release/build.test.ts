/** A release can be verified: the same commit gives the same bytes, and a changed byte is found. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { longRunOnly, temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { packServer } from '../../packages/testkit/package/installed.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { bundle } from '../../scripts/packages/bundle.ts';
import { commitOf, readStatement, releaseFaults } from '../../scripts/release/build.ts';
import { blocksOf } from '../documents/clone.ts';
import { files, root } from '../sources.ts';

/** Another day, time zone and language. Every file that is made is private. */
const elsewhere = {
  ...process.env,
  TZ: 'Asia/Tokyo',
  LC_ALL: 'C',
  SOURCE_DATE_EPOCH: '1000000000',
  NODE_TEST_CONTEXT: undefined,
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`
    const { Date: Now } = globalThis;
    globalThis.Date = class extends Now {
      constructor(...given) { super(...(given.length > 0 ? given : [Now.now() + 4e10])); }
      static now() { return Now.now() + 4e10; }
    }`)}`,
};

const bash = (script: string, cwd: string, env: NodeJS.ProcessEnv = process.env) => {
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-euc', script], {
    cwd,
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};

test('another folder, day, time zone, language and umask give the same package', async (t) => {
  const copy = join(temporaryFolder(t), 'a folder');
  const { places } = await bundle();
  const tools = ['node_modules/esbuild', 'node_modules/@esbuild', 'node_modules/@partner-network'];
  for (const path of [...files, ...places, ...tools]) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path), { recursive: true, verbatimSymlinks: true });
  }
  const script = 'umask 077; chmod -R go-rwx .; mkdir packed; node scripts/packages/server.ts packed';
  const { status, stdout, stderr } = bash(script, copy, elsewhere);
  assert.equal(status, 0, stderr);
  assert.ok(readFileSync(stdout.trim()).equals(readFileSync(packServer(temporaryFolder(t)))));
});

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

test('a changed, missing or foreign file of a release is found, and so is another commit', (t) => {
  const folder = temporaryFolder(t);
  const subject = [{ name: 'one.tgz', digest: { sha256: sha256('one') } }];
  const resolvedDependencies = [{ name: 'commit', digest: { gitCommit: 'c0ffee' } }];
  const statement = JSON.stringify({ subject, predicate: { buildDefinition: { resolvedDependencies } } });
  const write = (changes: Readonly<Record<string, string>> = {}) => {
    const sums = `${sha256('one')}  one.tgz\n${sha256(statement)}  one.intoto.json\n`;
    const all = { 'one.tgz': 'one', 'one.intoto.json': statement, SHA256SUMS: sums, ...changes };
    for (const [name, content] of Object.entries(all)) writeFileSync(join(folder, name), content);
    return releaseFaults(folder, 'c0ffee', 'one.intoto.json').map((fault) => fault.replace(folder, '…'));
  };
  const changed = (name: string) => `${name} does not have the digest in SHA256SUMS.`;
  const other = 'SHA256SUMS and one.intoto.json name other digests.';
  assert.deepEqual(write(), []);
  assert.deepEqual(write({ 'one.tgz': 'onE' }), [changed('one.tgz')]);
  assert.deepEqual(write({ 'one.intoto.json': statement.replace('c0ffee', 'c0ffe3') }), [
    changed('one.intoto.json'),
    other,
    '… was built from the commit c0ffe3, not from c0ffee.',
  ]);
  const foreign = `${sha256('two')}  two.tgz\n`;
  assert.deepEqual(write({ SHA256SUMS: foreign }), ['two.tgz is missing.', other]);
  const empty = releaseFaults(temporaryFolder(t), 'c0ffee').map((fault) => fault.split(' has ')[1]);
  assert.equal(empty.length, 2);
  assert.equal(empty[0], 'no SHA256SUMS: run "npm run release:build".');
});

test('the package that is kept of a release has the digest that was published', () => {
  for (const release of readdirSync(join(root, 'test/releases'))) {
    const folder = join(root, 'test/releases', release);
    if (!existsSync(join(folder, 'SHA256SUMS'))) continue;
    const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
    for (const name of [`partner-network-${release}.tgz`, `partner-network-${release}.intoto.json`]) {
      assert.ok(sums.includes(`${sha256(readFileSync(join(folder, name)))}  ${name}\n`), name);
    }
    const statement = readStatement(join(folder, `partner-network-${release}.intoto.json`));
    assert.match(commitOf(statement)!, /^[0-9a-f]{40}$/);
  }
});

/** A clone of the last commit, with the packages of this checkout. */
function clone(t: TestContext, name: string): string {
  const folder = join(temporaryFolder(t), name);
  const here = JSON.stringify(root);
  const script = `umask 077
    git clone --quiet ${here} "$0"
    cp --archive --link ${here}/node_modules "$0" 2>/dev/null || cp --archive ${here}/node_modules "$0"`;
  execFileSync('bash', ['-euc', script, folder], { stdio: 'pipe' });
  return folder;
}

const withoutTools =
  longRunOnly || (programsOnPath(['buildah', 'ssh-keygen']).length < 2 && 'needs buildah and ssh-keygen');

test('two builds are equal, and a changed byte in any file is found, also by the signature', {
  skip: withoutTools,
  timeout: 900_000,
}, (t) => {
  const [first, second] = [clone(t, 'first'), clone(t, 'second folder')];
  const npm = (script: string, folder: string, env?: NodeJS.ProcessEnv) =>
    bash(`PATH=$PWD/node_modules/.bin:$PATH; npm run --silent ${script}`, folder, env);
  const built = npm('release:build', first);
  assert.equal(built.status, 0, built.stderr);
  const release = join(first, 'release');
  const again = npm(`release:verify -- "${release}"/*`, second, elsewhere);
  assert.deepEqual([again.status, again.stdout.match(/: the same$/gm)?.length], [0, 6], again.stdout);

  const key = join(temporaryFolder(t), 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  assert.match(npm('release:sign', first).stderr, /RELEASE_SIGNING_KEY: Set it to/);
  const signed = npm('release:sign', first, { ...process.env, RELEASE_SIGNING_KEY: key });
  assert.equal(signed.status, 0, signed.stderr);
  const [verifying = ''] = blocksOf('SECURITY.md', /^Verify a release/).map(({ text }) => text);
  const publicKey = readFileSync(`${key}.pub`, 'utf8');
  writeFileSync(join(release, 'signers'), `releases ${publicKey}`);
  const checked = bash(verifying, release);
  assert.equal(checked.status, 0, checked.stderr);
  assert.match(checked.stdout, /^Good "partner-network-release" signature for releases/);

  const names = readdirSync(release).filter((name) => !/signers|\.sig$/.test(name));
  for (const name of names) {
    const path = join(release, name);
    const content = readFileSync(path);
    const changed = Buffer.from(content);
    changed[changed.length >> 1]! ^= 1;
    writeFileSync(path, changed);
    assert.notEqual(bash(verifying, release).status, 0, name);
    writeFileSync(`${path}.original`, content);
  }
  // The words of a changed statement would get into a command.
  const statement = join(release, names.find((name) => name.endsWith('.intoto.json'))!);
  const words = readFileSync(statement, 'utf8').replace(/("gitCommit": ")\w+/, '$1HEAD; reboot');
  writeFileSync(statement, words);
  const foreign = join(release, 'foreign.sig');
  writeFileSync(foreign, '');
  // One build for all of them.
  const [left, ...given] = names.filter((name) => name !== 'SHA256SUMS');
  const all = ['SHA256SUMS', 'SHA256SUMS.sig', 'foreign.sig', ...given].map((name) => join(release, name));
  const found = npm(`release:verify -- ${all.map((path) => `"${path}"`).join(' ')}`, second);
  assert.equal(found.status, 1, found.stdout);
  assert.equal(found.stdout.match(/: DIFFERS$/gm)?.length, given.length + 1, found.stdout);
  for (const line of [`${foreign}: IS NOT PART OF THE RELEASE`, `${left}: MISSING`])
    assert.ok(found.stdout.includes(`${line}\n`), found.stdout);
  assert.doesNotMatch(found.stdout, /reboot && npm ci/);
  assert.match(npm(`release:verify -- "${release}"`, second).stderr, /^There is no file /);
});
