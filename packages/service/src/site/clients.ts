/**
 * The files at /docs/clients. A checkout writes them from their sources. A package was packed with the same
 * bytes, and packs itself.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ownVersion } from '@partner-network/common/process';
import { tarball, zip } from './archives.ts';

interface ClientFile {
  readonly name: string;
  readonly about: string;
  content(): Promise<Buffer>;
}

/** The root of a checkout, or the folder of a package that has the same layout. */
const root = new URL('../../../../', import.meta.url);
const isCheckout = import.meta.url.endsWith('.ts');
const version = ownVersion();
const pythonVersion = version.replace('-dev', '.dev0');

/** Those that the package `partner-network` contains. */
export function clientFiles(): readonly ClientFile[] {
  const file = (name: string, about: string, written: () => Promise<Buffer>): ClientFile => {
    const packed = new URL(`packages/service/assets/clients/${name}`, root);
    return { name, about, content: isCheckout ? written : () => readFile(packed) };
  };
  return [
    file(`partner-network-client-${version}.tgz`, 'The client for JavaScript and TypeScript', npmClient),
    file(`partner_network_client-${pythonVersion}-py3-none-any.whl`, 'The client for Python', wheel),
  ];
}

/** All, in the order of the page. A checkout without its tools cannot build our own package. */
export function offeredFiles(): readonly ClientFile[] {
  if (isCheckout && !existsSync(new URL('node_modules/esbuild', root))) return clientFiles();
  const about = 'The command line, with a sandbox of your own and rehearsals';
  return [...clientFiles(), { name: `partner-network-${version}.tgz`, about, content: ownPackage }];
}

/** The content of files, by a prefix and their path in a folder. */
async function filesOf(folder: string, paths: readonly string[], prefix = '') {
  const read = async (path: string) => [prefix + path, await readFile(new URL(folder + path, root))] as const;
  return Object.fromEntries(await Promise.all(paths.map(read)));
}

/** The paths in a folder of the files that are in one of its folders. Sorted, as on every machine. */
async function pathsIn(folder: string, inner: string): Promise<string[]> {
  const from = fileURLToPath(new URL(folder, root));
  const entries = await readdir(join(from, inner), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.pyc'));
  return files.map(({ parentPath, name }) => relative(from, join(parentPath, name))).sort();
}

let packing: Promise<{ stdout: Buffer }> | undefined;

/** An installed package packs itself. A checkout needs a second, so another process does that. */
async function ownPackage(): Promise<Buffer> {
  if (isCheckout) {
    const words = [fileURLToPath(new URL('scripts/packages/server.ts', root)), '--print'];
    const options = { encoding: 'buffer', maxBuffer: 2 ** 25 } as const;
    packing ??= promisify(execFile)(process.execPath, words, options);
    // Anybody may ask for it: after a failure, no process starts for a minute.
    packing.catch(() => setTimeout(() => (packing = undefined), 60_000).unref());
    return (await packing).stdout;
  }
  const inFolders = await Promise.all(['bin', 'dist', 'share'].map((name) => pathsIn('../', name)));
  return tarball(await filesOf('../', ['package.json', 'README.md', 'LICENSE', ...inFolders.flat()]));
}

/** The client for JavaScript: its modules without types, as ES modules and as CommonJS. */
async function npmClient(): Promise<Buffer> {
  const folder = 'packages/client/';
  const names = ['package.json', 'README.md', 'LICENSE', 'types/index.d.ts'];
  const { 'types/index.d.ts': types, ...files } = await filesOf(folder, names);
  const { private: _, publishConfig, ...manifest } = JSON.parse(String(files['package.json']));
  const modules: Record<string, string> = {
    'package.json': `${JSON.stringify({ ...manifest, ...publishConfig }, undefined, 2)}\n`,
  };
  for (const [path, source] of Object.entries(await filesOf(folder, await pathsIn(folder, 'src')))) {
    const module = withoutTypes(String(source));
    const name = path.replace('src', 'dist').replace('.ts', '');
    modules[`${name}.js`] = module.replaceAll(/(from '.*)\.ts'/g, "$1.js'");
    modules[`${name}.cjs`] = commonJs(module);
  }
  return tarball({ ...files, ...modules, 'dist/index.d.ts': types!, 'dist/index.d.cts': types! });
}

function withoutTypes(source: string): string {
  const { emitWarning } = process;
  // Node warns that this function is experimental. The version of Node is pinned, and tests run the result.
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source)
      .replaceAll(/[ \t]+$/gm, '')
      .replaceAll(/\n{3,}/g, '\n\n');
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The forms of imports and exports that the client uses. Node finds the names in `module.exports`. */
function commonJs(module: string): string {
  const exported = /^export (?:\{([^}]*?),?\s*\}|(?:async )?(?:class|const|function) (\w+))/gm;
  const names = Array.from(module.matchAll(exported), ([, list, name]) => list ?? name);
  const program = module
    .replaceAll(/^(?:im|ex)port (\{[^}]*\}) from ('.*)\.ts'/gm, "const $1 = require($2.cjs')")
    .replaceAll(/^export /gm, '');
  return `'use strict';\n${program}\nmodule.exports = { ${names.join(', ')} };\n`;
}

/** The client for Python, as packaging.python.org/specifications/binary-distribution-format describes it. */
async function wheel(): Promise<Buffer> {
  const folder = 'clients/python/';
  const about = `partner_network_client-${pythonVersion}.dist-info/`;
  const files = {
    ...(await filesOf(`${folder}src/`, await pathsIn(`${folder}src/`, 'partner_network'))),
    ...(await filesOf(folder, ['LICENSE'], about)),
    ...(await filesOf(`${folder}dist-info/`, ['METADATA', 'WHEEL'], about)),
  };
  const record = Object.entries(files).map(([name, content]) => {
    return `${name},sha256=${createHash('sha256').update(content).digest('base64url')},${content.length}\n`;
  });
  return zip({ ...files, [`${about}RECORD`]: `${record.join('')}${about}RECORD,,\n` });
}
