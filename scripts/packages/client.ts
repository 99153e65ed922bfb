/**
 * Builds the programs, the types and the package.json of `@partner-network/client`. The repository itself
 * runs packages/client/src. So its own package.json exports the sources, has the exports of the package in
 * `publishConfig`, and is private: npm must not publish it. The JavaScript stays readable, without source
 * maps.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const client = join(root, 'packages/client');

/** Writes them into a folder, which is new or was written before. */
export async function buildClient(folder: string): Promise<void> {
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  for (const [format, file] of [
    ['esm', 'index.js'],
    ['cjs', 'index.cjs'],
  ] as const) {
    await build({
      absWorkingDir: client,
      entryPoints: ['src/index.ts'],
      bundle: true,
      platform: 'neutral',
      target: 'es2022',
      format,
      outfile: join(folder, 'dist', file),
    });
  }
  writeDeclarations(join(folder, 'dist/types'));
  const manifest = readFileSync(join(client, 'package.json'), 'utf8');
  const { private: _, publishConfig, ...others } = JSON.parse(manifest);
  const text = JSON.stringify({ ...others, ...publishConfig }, undefined, 2);
  writeFileSync(join(folder, 'package.json'), `${text}\n`);
}

/**
 * Each declaration is written twice, because its extension decides the module kind: .ts and .cts. The
 * compiler keeps the .ts of the sources in imports, so it is replaced.
 */
function writeDeclarations(folder: string): void {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '--project', client, '--outDir', folder], { stdio: 'inherit' });
  for (const file of readdirSync(folder)) {
    const text = readFileSync(join(folder, file), 'utf8');
    const importing = (ending: string) => text.replaceAll(/(['"]\.\/[^'"]+)\.ts(?=['"])/g, `$1${ending}`);
    writeFileSync(join(folder, file), importing('.js'));
    writeFileSync(join(folder, file.replace(/\.ts$/, '.cts')), importing('.cjs'));
  }
}
