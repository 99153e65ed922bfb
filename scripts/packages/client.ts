/**
 * `npm run client:build`: builds the published package in packages/client/dist. The repository itself runs
 * packages/client/src. The JavaScript stays readable, so there are no source maps.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const client = join(root, 'packages/client');

/** Replaces the content of the folder with the package. */
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
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(publishedManifest(), null, 2)}\n`);
  copyFileSync(join(client, 'README.md'), join(folder, 'README.md'));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
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

/** The manifest of the workspace is private, so that the sources cannot be published by mistake. */
function publishedManifest(): object {
  const manifest = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8'));
  const { private: _unpublished, exports: _sources, ...kept } = manifest;
  return {
    ...kept,
    main: './index.cjs',
    types: './types/index.d.cts',
    exports: {
      '.': {
        import: { types: './types/index.d.ts', default: './index.js' },
        require: { types: './types/index.d.cts', default: './index.cjs' },
      },
      './package.json': './package.json',
    },
    files: ['index.js', 'index.cjs', 'types'],
  };
}

if (import.meta.main) {
  const folder = join(client, 'dist');
  await buildClient(folder);
  console.log(`The package is in ${relative(process.cwd(), folder)}.`);
}
