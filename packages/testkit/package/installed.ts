/** Packs `partner-network`, and places it in a folder as npm installs it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const builder = fileURLToPath(new URL('../../../scripts/packages/server.ts', import.meta.url));

/** Packs it into a folder. Returns the path of the file. */
export function packServer(folder: string): string {
  return execFileSync(process.execPath, [builder, folder], { encoding: 'utf8' }).trim();
}

/** Writes the content of a packed file into a folder. */
export function unpack(tarball: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '--no-same-owner', '-C', folder]);
  return folder;
}

/** npm itself would take seconds. It has nothing else to do, because the package has no dependencies. */
export function installServer(tarball: string, folder: string): string {
  return unpack(tarball, join(folder, 'node_modules/partner-network'));
}
