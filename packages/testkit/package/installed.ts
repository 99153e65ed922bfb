/** Packs our packages, and installs `partner-network` in a folder. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { productionPackages } from './production.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Packs what `npm pack` is given into a folder. Returns the path of the file. */
export function pack(folder: string, ...what: string[]): string {
  const words = ['pack', ...what, '--silent', '--pack-destination', folder];
  return join(folder, execFileSync('npm', words, { cwd: root, encoding: 'utf8' }).trim());
}

export const packServer = (folder: string) => pack(folder, '-w', 'partner-network');

/** Writes the content of a packed file into a folder. */
export function unpack(tarball: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '--no-same-owner', '-C', folder]);
  return folder;
}

/** Installs a packed file. Its dependencies are copied from the checkout, so that no registry is needed. */
export function installServer(tarball: string, folder: string): string {
  for (const place of productionPackages(root)) {
    cpSync(join(root, place), join(folder, place), { recursive: true });
  }
  return unpack(tarball, join(folder, 'node_modules/partner-network'));
}
