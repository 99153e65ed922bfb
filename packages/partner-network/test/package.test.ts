/** The service as operators install it: packed, installed in a folder that nobody can write, and run. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { installTools } from '../../../checks/lib/install-tools.ts';
import { read } from '../../../scripts/packages/server.ts';
import { ownVersion } from '../../common/src/process.ts';
import { clientFiles, offeredFiles } from '../../service/src/site/clients.ts';
import { guideList } from '../../service/src/site/guides.ts';
import { temporaryFolder, unprivileged } from '../../testkit/fixtures/lifetime.ts';
import { type Finished, run, type Surroundings, start } from '../../testkit/fixtures/run.ts';
import { installServer, packServer } from '../../testkit/package/installed.ts';
import { programsOnPath } from '../../testkit/servers/programs.ts';
import { demoVariables } from '../../testkit/service/partner.ts';
import { built, patterns } from '../src/files.ts';

installTools('scripts/release/tools');
const { lintPackage } = await import('../../../scripts/release/tools/package.js');

const root = fileURLToPath(new URL('../../..', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'partner-network-package-'));
const nodeFolder = join(folder, 'node');
let tarball: string;
let installed: string;

before(() => {
  // The unprivileged user may not be allowed to enter the folder of this checkout.
  mkdirSync(nodeFolder);
  copyFileSync(process.execPath, join(nodeFolder, 'node'), constants.COPYFILE_FICLONE);
  tarball = packServer(folder);
  installed = installServer(tarball, folder);
  // Another user has to read it, and to write to a folder for data.
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'home'));
  chmodSync(join(folder, 'home'), 0o777);
});
after(() => {
  execFileSync('chmod', ['-R', 'u+w', folder]);
  rmSync(folder, { recursive: true });
});

const variables = { PATH: `${nodeFolder}:/usr/bin:/bin` };
const command = () => join(installed, 'bin/partner-network.js');

/** How an unprivileged user runs the package, in a folder for data and with the package's own cache. */
const surroundings = (more: Record<string, string> = {}): Surroundings => ({
  program: command(),
  folder: join(folder, 'home'),
  user: unprivileged,
  variables: { ...variables, NODE_COMPILE_CACHE: '', ...more },
});
const runPacked = (words: readonly string[], more?: Record<string, string>): Promise<Finished> =>
  run(words, surroundings(more));

/** Lines that a backslash joins, as one. */
const joined = (text: string) => text.replaceAll(/ \\\n */g, ' ');

const readme = () => readFileSync(join(installed, 'README.md'), 'utf8');

/** Everything in the package, as paths below its folder. */
const packed = () => execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n').sort();

test('the package contains the program, the files that it reads, and nothing else', () => {
  const own = ['LICENSE', 'README.md', 'bin/partner-network.js', 'bin/require-node-24.js', 'package.json'];
  const threads = ['thread.js', 'receipts-thread.js'];
  const libraries = ['ioredis.cjs', 'openid-client.cjs', 'pg.cjs'];
  const program = ['main.js', ...threads, ...libraries].flatMap((file) => [file, `${file}.map`]);
  const others = [
    'minisearch.js',
    'packages/partner-network/package.json',
    ...globSync([...read], { cwd: root }),
    ...clientFiles().map(({ name }) => `packages/service/assets/clients/${name}`),
  ];
  const shared = [...built, ...globSync(patterns, { cwd: root })];
  const all = [
    ...own,
    ...[...program, ...others].map((file) => `dist/${file}`),
    ...shared.map((file) => `share/${file}`),
  ];
  assert.deepEqual(packed(), all.map((file) => `package/${file}`).sort());
  for (const { file } of guideList) assert.ok(packed().includes(`package/dist/${file}`), file);
});

test('npm installs it in an empty folder, without a registry and without a cache', (t) => {
  const empty = temporaryFolder(t);
  const words = ['install', '--offline', '--no-audit', `--cache=${temporaryFolder(t)}`, tarball];
  const npm = spawnSync('npm', words, { cwd: empty, encoding: 'utf8' });
  assert.equal(npm.status, 0, npm.stderr);
  const placed = join(empty, 'node_modules/partner-network');
  const compared = spawnSync('diff', ['-r', placed, installed], { encoding: 'utf8' });
  assert.deepEqual([compared.status, compared.stdout], [0, '']);
  const { lastModified: _, ...locked } = JSON.parse(
    readFileSync(join(empty, 'node_modules/.package-lock.json'), 'utf8'),
  );
  assert.deepEqual(Object.keys(locked.packages), ['node_modules/partner-network']);
  const version = execFileSync(join(empty, 'node_modules/.bin/partner-network'), ['--version'], {
    env: variables,
    encoding: 'utf8',
  });
  assert.equal(version, `${ownVersion()}\n`);
});

test('no file of the package names a folder of this machine', () => {
  for (const path of [root.replace(/\/$/, ''), homedir(), tmpdir()].filter((name) => name.length > 4)) {
    const found = spawnSync('grep', ['-rlF', path, installed], { encoding: 'utf8' });
    assert.equal(found.stdout, '', path);
  }
});

test('the manifest asks for Node 24 and for what runs, and publint finds no problem', async () => {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.deepEqual(
    [manifest.name, manifest.version, manifest.private],
    ['partner-network', version, undefined],
  );
  assert.deepEqual([manifest.license, manifest.engines], ['MIT', { node: '>=24' }]);
  for (const name of ['scripts', 'dependencies', 'devDependencies', 'peerDependencies']) {
    assert.equal(manifest[name], undefined, name);
  }
  assert.deepEqual(await lintPackage(new Uint8Array(readFileSync(tarball))), []);
});

test('compiled code is kept in a package of its own user, and in no other', () => {
  const cache = join(installed, '.cache');
  const words = ['-c', 'umask 0; exec "$0" roles', command()];
  const first = () => execFileSync('sh', words, { env: variables, encoding: 'utf8' }).slice(0, 2);
  chmodSync(installed, 0o777);
  assert.equal(first(), '--');
  assert.ok(!existsSync(cache), 'others can write the package');
  chmodSync(installed, 0o755);
  assert.equal(first(), '--');
  assert.equal(statSync(cache).mode & 0o777, 0o700, 'also with a umask of 0');
  rmSync(cache, { recursive: true });
  mkdirSync(cache);
  chmodSync(cache, 0o777);
  assert.equal(first(), '--');
  assert.deepEqual(readdirSync(cache), [], 'others can write the cache');
  rmSync(cache, { recursive: true });
});

test('an unprivileged user runs a read-only package, whose sandbox has its guides', async (t) => {
  execFileSync('chmod', ['-R', 'a-w', join(folder, 'node_modules')]);
  const before = packed().length;
  const sandbox = start(t, ['sandbox', '--port', '0', '--admin-port', '0'], surroundings());
  const { input: said } = await sandbox.says('stdout', /Press Ctrl-C/);
  const [, call = ''] = /^ *(curl .*\/brands\?limit=1')$/m.exec(joined(said)) ?? [];
  assert.ok(
    readme().includes(`\`\`\`sh\n${call.replace(/:\d+\//, ':8080/')}\n\`\`\``),
    'the README has this call',
  );
  assert.match(execFileSync('sh', ['-c', `${call} -s`], { encoding: 'utf8' }), /"Golden Bakery"/);

  const reference = /Reference (\S+)/.exec(said)?.[1];
  const bytes = async (path: string): Promise<Buffer> => {
    const answer = await fetch(`${reference}${path}`);
    // A busy sandbox says when to come again.
    if (answer.status !== 503) return buffer(answer.body!);
    await wait(Number(answer.headers.get('retry-after')) * 1_000);
    return bytes(path);
  };
  const text = async (path: string) => String(await bytes(path));
  for (const { path } of guideList) assert.match(await text(path.replace('/docs', '')), /^<!doctype html>/);
  // The same bytes as from a checkout.
  for (const { name, content } of offeredFiles()) {
    assert.ok((await content()).equals(await bytes(`/clients/${name}`)), name);
  }
  const offered = await text('/clients.md');
  const digests = [...offered.matchAll(/^(\w{64}) {2}(.+)$/gm)];
  assert.equal(digests.length, 3);
  for (const [, digest, name = ''] of digests) {
    assert.equal(hash('sha256', await bytes(`/clients/${name}`)), digest, name);
  }
  const own = `/clients/${basename(tarball)}`;
  assert.ok(readFileSync(tarball).equals(await bytes(own)), 'the package that it offers is its own');
  const page = await text('');
  const [, library = ''] = /data-library="docs(\/minisearch-[^"]+)"/.exec(page) ?? [];
  assert.match(await text(library), /class MiniSearch/);
  assert.ok(page.includes('List brands'));

  sandbox.signal('SIGTERM');
  assert.equal(await sandbox.ended, 0, sandbox.texts().stderr);
  const now = globSync('**/*', { cwd: installed, withFileTypes: true }).filter((file) => file.isFile());
  assert.equal(now.length, before, 'it wrote into its package');
});

test('the package finds that its own sandbox conforms', async (t) => {
  const sandbox = start(t, ['sandbox', '--port', '0', '--admin-port', '0'], surroundings());
  const { input: said } = await sandbox.says('stdout', /Press Ctrl-C/);
  const [, baseUrl = ''] = /Base URL +(\S+)/.exec(said) ?? [];
  const { status, stdout, stderr } = await runPacked(['conformance', baseUrl], demoVariables());
  assert.deepEqual([status, stderr], [0, ''], stdout);
});

test('the README names the packed file, and commands that work', async () => {
  const commands = [...readme().matchAll(/^```sh\n(.*?)\n```$/gms)].flatMap(([, text]) => text!.split('\n'));
  const known = ['npx partner-network sandbox', 'npx partner-network migrate', 'npx partner-network serve'];
  assert.match(basename(tarball), /^partner-network-\d[\w.-]*\.tgz$/);
  assert.deepEqual(
    commands.filter((line) => !line.startsWith('curl')),
    ['npm install ./partner-network-*.tgz', ...known],
  );
  const { status, stdout } = await runPacked(['migrate']);
  assert.deepEqual([status, stdout.startsWith('Created the production database')], [0, true]);
});

/** Fails when the program prints, or when it reads a thread's question. */
const failing = (code: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
});

/** The text of the file where the first line of a stack trace that names a source leads. */
function sourceIn(trace: string): string {
  const [, file = '', line, column] =
    /^ +at .*?((?:packages|node_modules)\/\S+\.[jt]s):(\d+):(\d+)/m.exec(trace) ?? [];
  assert.ok(existsSync(join(root, file)), trace);
  return String(
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      [Number(line) - 1]?.slice(Number(column) - 1),
  );
}

test('a stack trace names the line of the source', async () => {
  const fail = 'process.stdout.write = () => { throw new Error("probe"); }';
  const { stderr } = await runPacked(['roles'], failing(fail));
  assert.match(sourceIn(stderr), /^write\(/, stderr);
});

test('a stack trace names the line of a library', () => {
  const code = `await import('${installed}/dist/main.js');
    const { Client } = process.getBuiltinModule('module').createRequire('${installed}/dist/')('./pg.cjs');
    try { new Client().query(); } catch ({ stack }) { console.log(stack); }`;
  const trace = execFileSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8' });
  assert.match(sourceIn(trace), /^new TypeError\('Client was passed/, trace);
});

test('the maps of the lines are read only for a stack trace', async () => {
  const count = `import fs from 'node:fs'; const { readFileSync } = fs; let count = 0;
    fs.readFileSync = (path, ...rest) => {
      count += String(path).endsWith('.map');
      return readFileSync(path, ...rest);
    };
    process.on('exit', () => console.error(count + ' maps'));`;
  assert.equal((await runPacked(['roles'], failing(count))).stderr, '0 maps\n');
  const fail = `${count} process.stdout.write = () => { throw new Error('probe'); };`;
  assert.match((await runPacked(['roles'], failing(fail))).stderr, /^[1-9] maps$/m);
});

test('no class of an error has another name in the package: logs show it', () => {
  const files = globSync('dist/*.{js,cjs}', { cwd: installed });
  const program = files.map((file) => readFileSync(join(installed, file), 'utf8')).join('\n');
  const classes = program.matchAll(/(\w+)=\s*class(?:\s+\w+)?\s+extends\s+\w*Error\w*\s*\{/g);
  const renamed = [...classes].filter(([, name]) => /\d$/.test(name!));
  assert.deepEqual(
    renamed.map(([text]) => text),
    [],
  );
  assert.match(program, /\bOperatorError=\s*class\s+extends\s+Error/);
});

test('help speaks of the package, and an older Node is refused with a sentence', async (t) => {
  assert.doesNotMatch((await runPacked(['--help'])).stdout, /checkout|npm (ci|start)/);
  const others = programsOnPath(['node']).filter((path) => !path.includes('node_modules'));
  const versionOf = (node: string) =>
    execFileSync(node, ['-p', 'process.versions.node'], { env: variables, encoding: 'utf8' });
  const old = others.find((node) => Number.parseInt(versionOf(node), 10) < 24);
  if (old === undefined) return t.diagnostic('This machine has no older Node.');
  const { status, stdout, stderr } = await run(['--version'], { ...surroundings(), runner: [old] });
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(
    stderr,
    /^Partner Network needs Node 24, but this is Node [\d.]+\. Install Node 24 or later\. For npx, .+\.\n$/,
  );
});
