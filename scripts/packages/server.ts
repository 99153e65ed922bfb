/**
 * Writes the package `partner-network` to a folder, by default to the root of the checkout, and prints its
 * path. With `--print`, it prints the package itself, which the service of a checkout offers.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { built, patterns } from '../../packages/partner-network/src/files.ts';
import { type Files, tarball } from '../../packages/service/src/site/archives.ts';
import { clientFiles } from '../../packages/service/src/site/clients.ts';
import { bundle } from './bundle.ts';
import { noticesOf, sbomOf } from './sbom.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const published = 'packages/partner-network';

/** What the program reads at run time, and what the pages at /docs show. */
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
];

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;

/** All files of the package. By their kinds, because a checkout may have others, such as settings. */
export async function filesOfServer(): Promise<Files> {
  const files: Record<string, string | Buffer> = {};
  const copy = (from: string, patterns: readonly string[], to = '') => {
    for (const pattern of patterns) {
      const found = globSync(pattern, { cwd: join(root, from) });
      if (found.length === 0) throw new Error(`No file fits ${pattern}: the package would be incomplete.`);
      for (const path of found) files[`${to}${path}`] = readFileSync(join(root, from, path));
    }
  };
  copy(published, ['README.md', 'LICENSE', 'bin/*.js']);
  copy('.', read, 'dist/');
  copy('.', patterns, 'share/');
  const { scripts: _, dependencies: __, devDependencies: ___, ...manifest } = manifestOf();
  files['package.json'] = json(manifest);
  const { type, version } = manifest;
  files[`dist/${published}/package.json`] = json({ type, version });
  for (const { name, content } of clientFiles()) {
    files[`dist/packages/service/assets/clients/${name}`] = await content();
  }
  const { files: program, places } = await bundle();
  for (const [name, content] of program) files[`dist/${name}`] = content;
  const [sbom, notices] = built;
  files[`share/${sbom}`] = json(sbomOf(places));
  files[`share/${notices}`] = noticesOf(places);
  return files;
}

const manifestOf = () => JSON.parse(readFileSync(join(root, published, 'package.json'), 'utf8'));

if (import.meta.main) {
  const packed = tarball(await filesOfServer());
  const [place = root] = process.argv.slice(2);
  const path = join(resolve(place), `partner-network-${manifestOf().version}.tgz`);
  if (place !== '--print') writeFileSync(path, packed);
  process.stdout.write(place === '--print' ? packed : `${path}\n`);
}
