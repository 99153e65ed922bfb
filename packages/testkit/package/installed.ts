/** The packed package `partner-network`, installed in a folder. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The installed package that the tests run, or undefined if they run the checkout. */
export function installedPackage(): string | undefined {
  const folder = process.env.TEST_PACKAGE;
  return folder === undefined ? undefined : join(folder, 'node_modules/partner-network');
}

/** Packs what `npm pack` is given into a folder. Returns the path of the file. */
export function pack(folder: string, ...what: string[]): string {
  const words = ['pack', ...what, '--silent', '--pack-destination', folder];
  return join(folder, execFileSync('npm', words, { cwd: root, encoding: 'utf8' }).trim());
}

export const packServer = (folder: string) => pack(folder, '-w', 'partner-network');

/** Installs a packed file. The dependencies are copied from the checkout, so that no registry is needed. */
export function installServer(tarball: string, folder: string): string {
  const modules = join(folder, 'node_modules');
  const installed = join(modules, 'partner-network');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '--no-same-owner', '-C', installed]);
  copyDependencies(installed, modules);
  return installed;
}

function copyDependencies(of: string, modules: string): void {
  const { dependencies = {} } = JSON.parse(readFileSync(join(of, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const copy = join(modules, name);
    if (existsSync(copy)) continue;
    cpSync(join(root, 'node_modules', name), copy, { recursive: true });
    copyDependencies(copy, modules);
  }
}
