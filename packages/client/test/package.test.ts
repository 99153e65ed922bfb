/** The client as partners install it: built and packed. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname, join, relative } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { installTools } from '../../../checks/lib/install-tools.ts';
import { codeOfGuide } from '../../testkit/clients/guide.ts';
import { temporaryFolder } from '../../testkit/fixtures/lifetime.ts';
import { programsOnPath } from '../../testkit/servers/programs.ts';
import { playOnCommandLine } from './runtimes/play.ts';
import { expectedProof } from './runtimes/scenario.ts';
import { startStage } from './runtimes/stage.ts';
import { type PackedClient, packClient } from './support/packed.ts';

installTools('scripts/release/tools');
const { checkTypes, lintPackage } = await import('../../../scripts/release/tools/package.js');

const root = fileURLToPath(new URL('../../..', import.meta.url));
const maxBytes = 6_000;

let packed: PackedClient;

before(async () => {
  packed = await packClient();
});

const manifest = () => JSON.parse(readFileSync(join(packed.installed, 'package.json'), 'utf8'));

test('the package contains each module twice, its types, a README and a license', () => {
  const files = readdirSync(packed.installed, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(relative(packed.installed, parentPath), name));
  const modules = globSync('packages/client/src/*.ts', { cwd: root })
    .map((file) => `dist/${basename(file, '.ts')}`)
    .flatMap((file) => [`${file}.js`, `${file}.cjs`]);
  const others = ['LICENSE', 'README.md', 'dist/index.d.cts', 'dist/index.d.ts', 'package.json'];
  assert.deepEqual(files.sort(), [...others, ...modules].sort());
});

test('with an address and a key, a partner installs the client and runs a program', async (t) => {
  const stage = await startStage();
  t.after(stage.close);
  const folder = temporaryFolder(t);
  const [install = '', program = ''] = await codeOfGuide(stage.sandbox, 'javascript');
  // No registry can be reached.
  const settings = { npm_config_registry: 'http://127.0.0.1:9', npm_config_audit: 'false', HOME: folder };
  execFileSync('sh', ['-ec', install], { cwd: folder, env: { PATH: process.env.PATH, ...settings } });
  writeFileSync(join(folder, 'first.mjs'), program);
  const PARTNER_NETWORK_BASE_URL = `${stage.sandbox}/network/v1`;
  const { stdout, stderr } = spawnSync(process.execPath, ['first.mjs'], {
    cwd: folder,
    env: { PARTNER_NETWORK_API_KEY: stage.apiKey, PARTNER_NETWORK_BASE_URL },
    encoding: 'utf8',
  });
  assert.deepEqual([stdout, stderr], ['Little Greens\n', '']);
});

test('the package depends on nothing and runs nothing when it is installed', () => {
  const { private: isPrivate, ...fields } = manifest();
  assert.equal(isPrivate, undefined, 'npm refuses to publish it');
  for (const name of Object.keys(fields)) assert.doesNotMatch(name, /dependencies|bin|bundle|scripts/i);
  assert.equal(fields.engines.node, '>=20');
});

test('publint finds no problem', async () => {
  assert.deepEqual(await lintPackage(packed.tarball), []);
});

test('every way to resolve modules finds the right types', async () => {
  const { problems, files } = await checkTypes(packed.tarball);
  assert.deepEqual(problems, []);
  const types = '/node_modules/@partner-network/client/dist/index';
  assert.deepEqual(files, {
    node10: `${types}.d.cts`,
    'node16-cjs': `${types}.d.cts`,
    'node16-esm': `${types}.d.ts`,
    bundler: `${types}.d.ts`,
  });
});

test('ES modules import no CommonJS, vice versa, and the types import nothing', () => {
  const folder = join(packed.installed, 'dist');
  const imports = new Set<string>();
  for (const file of readdirSync(folder)) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, kind] of text.matchAll(/'\.\/[\w-]+(\.\w+)'/g)) imports.add(`${extname(file)} to ${kind}`);
  }
  assert.deepEqual(imports, new Set(['.cjs to .cjs', '.js to .js']));
});

/** A program of these lines, as a bundler makes it for a page. */
async function bundle(lines: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: lines, resolveDir: packed.folder },
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]!.text;
}

const gzipped = (text: string) => gzipSync(text, { level: 9 }).length;

test(`minified and gzipped, the client has fewer than ${maxBytes} bytes`, async (t) => {
  const bytes = gzipped(await bundle("export * from '@partner-network/client'"));
  t.diagnostic(`${bytes} bytes`);
  assert.ok(bytes < maxBytes, `${bytes} bytes`);
});

test('a program that uses only the errors bundles only the errors', async (t) => {
  const bytes = gzipped(await bundle("export { ApiError } from '@partner-network/client'"));
  t.diagnostic(`${bytes} bytes`);
  assert.ok(bytes < 700, `${bytes} bytes`);
  assert.equal(gzipped(await bundle("import '@partner-network/client'")), gzipped(''));
});

test('the client uses nothing that only some runtimes have', async () => {
  const text = await bundle("export * from '@partner-network/client'");
  // It reads the environment where there is one.
  assert.equal(text.match(/globalThis\.process\?\.env\b/g)?.length, 1);
  assert.doesNotMatch(
    text,
    /node:|(?<!globalThis\.)\b(process|require|Buffer|__dirname|Deno|Bun|window|document)\b/,
  );
});

test('imported and required, it has the same exports, and instanceof knows the errors of both', async () => {
  const program = join(packed.folder, 'both.mjs');
  writeFileSync(program, "export * from '@partner-network/client';");
  const imported = await import(pathToFileURL(program).href);
  const required = createRequire(program)('@partner-network/client');
  assert.deepEqual(Object.keys(required).sort(), Object.keys(imported).sort());
  assert.ok('PartnerNetwork' in imported);
  const given = [{ status: 403, requestId: 'r-1' }, [], 'not today.'];
  for (const [one, other] of [
    [imported, required],
    [required, imported],
  ]) {
    assert.notEqual(one.GrantError, other.GrantError);
    const error = new one.GrantError(...given);
    const kinds = Object.keys(other).filter((name) => name.endsWith('Error') && error instanceof other[name]);
    assert.deepEqual(kinds.sort(), ['ApiError', 'GrantError', 'PartnerNetworkError']);
    const OwnError = class extends other.GrantError {} as new (...given: unknown[]) => Error;
    assert.ok(!(error instanceof OwnError));
    const own = new OwnError(...given);
    assert.ok(own instanceof one.GrantError);
    assert.ok(own instanceof OwnError);
    for (const none of [null, undefined, 'GrantError', new Error('GrantError'), { name: 'GrantError' }]) {
      assert.ok(!(none instanceof other.GrantError));
    }
  }
});

test('a minifier does not rename the errors', async () => {
  const file = join(packed.folder, 'minified.mjs');
  writeFileSync(file, await bundle("export * from '@partner-network/client'"));
  const exported: Record<string, new () => unknown> = await import(pathToFileURL(file).href);
  const errors = Object.entries(exported).filter(([, value]) => value.prototype instanceof Error);
  assert.ok(errors.length >= 10);
  for (const [name, { prototype }] of errors) assert.equal(prototype.name, name);
});

for (const [file, load] of [
  ['thrown.mjs', "import * as client from '@partner-network/client';"],
  ['thrown.cjs', "const client = require('@partner-network/client');"],
] as const) {
  test(`an error is printed under its name, caught or not, by ${file}`, () => {
    const program = `${load}
      const { inspect } = process.getBuiltinModule('node:util');
      const facts = { status: 403, requestId: 'r-1' };
      for (const [name, kind] of Object.entries(client)) {
        if (kind.prototype instanceof Error) console.log(name, inspect(new kind(facts, [], 'x')));
      }
      throw new client.GrantError(facts, [], 'not today.');`;
    writeFileSync(join(packed.folder, file), program);
    const { stdout, stderr } = spawnSync(process.execPath, [file], { cwd: packed.folder, encoding: 'utf8' });
    const names = [...stdout.matchAll(/^(\w+Error) (\w+): /gm)];
    assert.ok(names.length >= 10);
    for (const [, name, printed] of names) assert.equal(printed, name);
    assert.match(stderr, /^GrantError: 403: not today\. \(request r-1\)$/m);
  });
}

const surroundings = {
  'a browser': { lib: ['es2022', 'dom'], types: [] },
  'Node, without the types of a browser': { lib: ['es2022'], types: ['node'] },
};

const consumer = readFileSync(new URL('support/consumer.ts', import.meta.url), 'utf8').replace(
  '../../src/index.ts',
  '@partner-network/client',
);

for (const [where, { lib, types }] of Object.entries(surroundings)) {
  test(`a strict program for ${where} compiles, as a module and as CommonJS`, () => {
    for (const kind of ['mts', 'cts']) {
      writeFileSync(join(packed.folder, `consumer.${kind}`), consumer);
    }
    const compilerOptions = {
      lib,
      types,
      typeRoots: [join(root, 'node_modules/@types')],
      target: 'es2022',
      module: 'nodenext',
      noEmit: true,
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      skipDefaultLibCheck: true,
    };
    const files = ['consumer.mts', 'consumer.cts'];
    writeFileSync(join(packed.folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', packed.folder], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
  });
}

/** The machine's own Node, which may be older than the repository's, as a partner's may be. */
const [nodeOfTheMachine = process.execPath] = programsOnPath(['node']).filter(
  (path) => !path.includes('node_modules'),
);

test("works in this Node and in the machine's, imported and required", async (t) => {
  const stage = await startStage();
  t.after(stage.close);
  for (const node of new Set([process.execPath, nodeOfTheMachine])) {
    const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
    const isTooOld = Number.parseInt(version.slice(1), 10) < 20;
    t.diagnostic(`${version}${isTooOld ? ', which is too old, is skipped' : ''}`);
    if (isTooOld) continue;
    assert.deepEqual(await playOnCommandLine([node], packed, stage), [expectedProof, expectedProof]);
  }
});
