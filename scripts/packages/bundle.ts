/**
 * The program of the package: one file with nearly everything that it imports, a file for each thread, and
 * one for each large library that many commands do not use.
 */
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

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
        .replaceAll("import.meta.resolve('minisearch')", at(minisearchFile))
        .replaceAll(/new URL\('\.\/([\w-]*thread)\.ts', .*?\.href\)/g, (_, thread) => at(`${thread}.js`));
      return { contents, loader: 'ts' };
    }),
};

/** What the pages at /docs send to browsers. */
const minisearchFile = 'minisearch.js';

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

/**
 * Large libraries that many commands do not use: a third of all code. Each has a file of its own, so that
 * other starts do not read it. For pg it is the CommonJS entry: its ES module declares every class again, and
 * esbuild would rename one of the two.
 */
const lazyLibraries = {
  ioredis: 'ioredis',
  'openid-client': 'openid-client',
  pg: './node_modules/pg/lib/index.js',
};

/** At the top of each file: a module with `module.exports` cannot use `import.meta`. */
const banner = 'const requireLibrary = process.getBuiltinModule("module").createRequire(import.meta.url);';

/** An import of a library reads its file when the importing module first runs. */
const lazyImports: Plugin = {
  name: 'lazy-libraries',
  setup(bundler) {
    const namespace = 'library';
    const filter = new RegExp(`^(${Object.keys(lazyLibraries).join('|')})$`);
    bundler.onResolve({ filter }, ({ path }) => ({ path, namespace }));
    bundler.onLoad({ filter: /./, namespace }, ({ path }) => ({
      contents: `module.exports = requireLibrary('./${path}.cjs');`,
    }));
  },
};

const options = {
  absWorkingDir: root,
  bundle: true,
  outdir: 'dist',
  write: false,
  metafile: true,
  platform: 'node',
  target: 'esnext',
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
} satisfies BuildOptions;

/** The files of the program by their names, and the folders of the packages that are in it. */
export async function bundle(): Promise<{ files: Map<string, Buffer>; places: string[] }> {
  const builds = await Promise.all([
    build({
      ...options,
      entryPoints,
      inject: ['packages/partner-network/src/source-lines.ts'],
      format: 'esm',
      banner: { js: banner },
      plugins: [placed, lazyImports, lazyModulesOfNode],
    }),
    build({
      ...options,
      entryPoints: lazyLibraries,
      format: 'cjs',
      outExtension: { '.js': '.cjs' },
    }),
  ]);
  const places = builds
    .flatMap(({ metafile }) => Object.keys(metafile.inputs))
    .flatMap(
      (path) => /^(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(path)?.slice(1) ?? [],
    );
  const files = builds
    .flatMap(({ outputFiles }) => outputFiles)
    .map(({ path, contents }) => [basename(path), Buffer.from(contents)] as const);
  const minisearch = readFileSync(fileURLToPath(import.meta.resolve('minisearch')));
  return {
    files: new Map([...files, [minisearchFile, minisearch]]),
    places: [...new Set(places)].toSorted(),
  };
}
