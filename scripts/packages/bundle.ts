/** The program of the package: one file with everything that it imports, and a file for each thread. */
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

const threads = ['imports/thread.ts', 'receipts-thread.ts'].map(
  (file) => `packages/store/src/sqlite/${file}`,
);
const program = ['packages/partner-network/src/main.ts', ...threads];
const entryPoints = program.map((file) => ({ in: file, out: basename(file, '.ts') }));

/** A module finds its files in the folder of the bundle as in a checkout: both have the same folders. */
const placed: Plugin = {
  name: 'placed',
  setup: (bundler) =>
    bundler.onLoad({ filter: /\/packages\/[\w-]+\/src\/.*\.ts$/ }, ({ path }) => {
      const module = relative(root, path).replace(/\.ts$/, '.js');
      const at = (file: string) => `new URL('./${file}', import.meta.url)`;
      const contents = readFileSync(path, 'utf8')
        .replaceAll(/\bimport\.meta\.url\b/g, `${at(module)}.href`)
        .replaceAll("import.meta.resolve('minisearch')", at(library))
        .replaceAll(/new URL\('\.\/([\w-]*thread)\.ts', .*?\.href\)/g, (_, thread) => at(`${thread}.js`));
      return { contents, loader: 'ts' };
    }),
};

/** esbuild makes names unique, also those of classes. Logs have the name of this one. */
const namedErrors: Plugin = {
  name: 'named-errors',
  setup: (bundler) =>
    bundler.onLoad({ filter: /\/pg-protocol\/dist\/messages\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(
        /class (DatabaseError) extends Error \{/,
        '$& static name = "$1";',
      ),
    })),
};

/** What the pages at /docs send to browsers. */
export const library = 'minisearch.js';

/** An `import` loads a module of Node at the start, also for code that never runs. */
const lazyModulesOfNode: Plugin = {
  name: 'lazy-modules-of-node',
  setup(bundler) {
    const namespace = 'node';
    bundler.onResolve({ filter: /^[a-z]/ }, ({ path }) =>
      isBuiltin(path) ? { path, namespace } : undefined,
    );
    bundler.onLoad({ filter: /./, namespace }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/** The files of the program by their names, and the folders of the packages that are in it. */
export async function bundle(): Promise<{ files: Map<string, Buffer>; places: string[] }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    inject: ['packages/partner-network/src/source-lines.ts'],
    bundle: true,
    outdir: 'dist',
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    plugins: [placed, namedErrors, lazyModulesOfNode],
    // The other file of pg exports every class again, and esbuild would give one of both another name.
    alias: { pg: './node_modules/pg/lib/index.js' },
    // Drivers for other systems, which pg looks for.
    external: ['pg-native', 'pg-cloudflare'],
    // Half of the work of reading it. Names stay, because logs and stack traces show them.
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 110,
    legalComments: 'none',
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'error',
  });
  const places = Object.keys(metafile.inputs).flatMap(
    (path) => /^(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(path)?.slice(1) ?? [],
  );
  const files = outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)] as const);
  const minisearch = readFileSync(fileURLToPath(import.meta.resolve('minisearch')));
  return {
    files: new Map([...files, [library, minisearch]]),
    places: [...new Set(places)].toSorted(),
  };
}
