/**
 * Builds what the package `@partner-network/client` contains, in packages/client/dist. npm runs it before it
 * packs. The repository itself runs packages/client/src. The JavaScript stays readable, without source maps.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const client = join(root, 'packages/client');

/** Replaces the content of the folder. */
export async function buildClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
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
      outfile: join(folder, file),
    });
  }
  writeDeclarations(join(folder, 'types'));
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

if (import.meta.main) await buildClient(join(client, 'dist'));
