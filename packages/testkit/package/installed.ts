/** Packs our packages, and installs `partner-network` in a folder. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dependenciesOf } from '../../../scripts/image/dependencies.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Packs what `npm pack` is given into a folder. Returns the path of the file. */
export function pack(folder: string, ...what: string[]): string {
  const words = ['pack', ...what, '--silent', '--pack-destination', folder];
  return join(folder, execFileSync('npm', words, { cwd: root, encoding: 'utf8' }).trim());
}

export const packServer = (folder: string) => pack(folder, '-w', 'partner-network');

/** Installs a packed file. The dependencies are copied from the checkout, so that no registry is needed. */
export function installServer(tarball: string, folder: string): string {
  const installed = join(folder, 'node_modules/partner-network');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '--no-same-owner', '-C', installed]);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const { place } of dependenciesOf(root, { ...manifest, peerDependencies: {} })) {
    cpSync(join(root, place), join(folder, place), { recursive: true });
  }
  return installed;
}
