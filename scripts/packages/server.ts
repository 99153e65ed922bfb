/**
 * Builds what the package `partner-network` contains, in packages/partner-network/dist. npm runs it before it
 * packs. With `--print`, it writes no files and prints the package, which the service of a checkout offers.
 * The folder mirrors the repository, so that files find each other as they do in a checkout.
 * Types are replaced by blanks: a line of a stack trace is the same line in the TypeScript file.
 */
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clientFiles, serverTarball } from '../../packages/service/src/site/clients.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const published = 'packages/partner-network';

const sources = 'packages/*/src/**/*.ts';
/**
 * What the program reads at run time, what the pages at /docs show, and the units for systemd. By their
 * kinds, because a checkout may have other files beside them, such as settings with passwords.
 */
export const read = [
  'packages/service/src/**/*.lua',
  'packages/store/src/**/*migrations/*.sql',
  'packages/operator/assets/*.{css,js}',
  'packages/service/assets/*.png',
  'packages/service/assets/site/*.{css,js,json,svg}',
  '{packages/client,clients/python}/README.md',
  'docs/*/partners/*.{md,json}',
  'docs/samples/*',
  'CHANGELOG.md',
  'deploy/*.{service,socket,timer}',
];

/** What the package contains in `dist`, by its path there. */
async function filesOfServer(): Promise<Map<string, string | Buffer>> {
  const files = new Map<string, string | Buffer>();
  for (const file of globSync(sources, { cwd: root })) {
    files.set(file.replace(/\.ts$/, '.js'), javascriptOf(file));
  }
  for (const pattern of read) {
    const found = globSync(pattern, { cwd: root });
    if (found.length === 0) throw new Error(`No file fits ${pattern}: the package would be incomplete.`);
    for (const file of found) files.set(file, readFileSync(join(root, file)));
  }
  for (const { name, content } of clientFiles()) {
    files.set(`packages/service/assets/clients/${name}`, await content());
  }
  const manifest = readFileSync(join(root, published, 'package.json'), 'utf8');
  const { type, version } = JSON.parse(manifest);
  const text = `${JSON.stringify({ type, version })}\n`;
  return files.set(`${published}/package.json`, text);
}

/**
 * Makes the folder contain the package and nothing else. Replaces only files that differ, each in one step,
 * because tests may pack the same sources at the same time.
 */
export async function buildServer(folder: string): Promise<void> {
  const files = await filesOfServer();
  for (const [file, content] of files) replace(join(folder, file), content, `${folder}.${process.pid}`);
  // A pattern would leave files that begin with a dot, which npm packs.
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isDirectory() && !files.has(relative(folder, file))) rmSync(file, { force: true });
  }
}

/** The package as a service that runs from a checkout offers it. */
async function packServer(): Promise<Buffer> {
  const dist = [...(await filesOfServer())].map(([file, content]) => [`dist/${file}`, content]);
  return serverTarball(`${published}/`, Object.fromEntries(dist));
}

function replace(file: string, content: string | Buffer, temporary: string): void {
  if (existsSync(file) && readFileSync(file).equals(Buffer.from(content))) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(temporary, content);
  renameSync(temporary, file);
}

/** An import of another package of the repository, but not one in the examples of comments. */
const ours = /(?<=^(?! \*).*(?:from|import)[ (])'@partner-network\/(\w+)\/?([^']*)'/gm;

/** Its JavaScript. Imports of our other packages become paths. */
function javascriptOf(file: string): string {
  const folder = dirname(file);
  return stripTypeScriptTypes(readFileSync(join(root, file), 'utf8'))
    .replaceAll(ours, (_, packageName, name) => {
      const path = relative(folder, `packages/${packageName}/src/${name || 'index'}.ts`);
      return `'${path.startsWith('.') ? path : `./${path}`}'`;
    })
    .replaceAll(/'(\.\.?\/[^']+)\.ts'/g, (_, path) => {
      if (!existsSync(join(root, folder, `${path}.ts`))) throw new Error(`${file}: no file ${path}.ts`);
      return `'${path}.js'`;
    });
}

if (import.meta.main) {
  if (process.argv[2] === '--print') process.stdout.write(await packServer());
  else await buildServer(join(root, published, 'dist'));
}
