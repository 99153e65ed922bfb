/**
 * Builds what the package `partner-network` contains, in packages/server/dist. `npm pack -w partner-network`
 * runs it first. The folder mirrors the repository, so that files find each other as they do in a checkout.
 * Types are replaced by blanks: a line of a stack trace is the same line in the TypeScript file.
 */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const server = 'packages/server';

const sources = 'packages/{contract,client,server}/src/**/*.ts';
/**
 * What the program reads at run time, what the pages at /docs show, and the unit for systemd. By their kinds,
 * because a checkout may have other files beside them, such as settings with passwords.
 */
const read = [
  `${server}/src/**/*.lua`,
  `${server}/src/**/*migrations/*.sql`,
  `${server}/assets/*.png`,
  `${server}/assets/reference/*.{br,css,html,js,json,svg,txt}`,
  'docs/*/partners/*.{md,json}',
  'deploy/*.service',
];

/** Replaces the content of the folder. */
export function buildServer(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const file of globSync(sources, { cwd: root })) {
    write(join(folder, file.replace(/\.ts$/, '.js')), javascriptOf(file));
  }
  for (const file of read.flatMap((pattern) => globSync(pattern, { cwd: root }))) {
    cpSync(join(root, file), join(folder, file));
  }
  const manifest = readFileSync(join(root, server, 'package.json'), 'utf8');
  const { type, version, peerDependencies } = JSON.parse(manifest);
  write(join(folder, server, 'package.json'), `${JSON.stringify({ type, version, peerDependencies })}\n`);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Its JavaScript. Imports of our other packages become paths. */
function javascriptOf(file: string): string {
  const folder = dirname(file);
  return stripTypeScriptTypes(readFileSync(join(root, file), 'utf8'))
    .replaceAll(/'@partner-network\/contract\/([^']+)'/g, (_, name) => {
      const path = relative(folder, `packages/contract/src/${name}.ts`);
      return `'${path.startsWith('.') ? path : `./${path}`}'`;
    })
    .replaceAll(/'(\.\.?\/[^']+)\.ts'/g, (_, path) => {
      if (!existsSync(join(root, folder, `${path}.ts`))) throw new Error(`${file}: no file ${path}.ts`);
      return `'${path}.js'`;
    });
}

if (import.meta.main) buildServer(join(root, server, 'dist'));
