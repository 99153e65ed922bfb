/** The client as a partner gets it: built, packed by npm, and installed into a folder. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

export interface PackedClient {
  /** A folder for programs that import `@partner-network/client`. */
  readonly folder: string;
  /** Where the package is in that folder. */
  readonly installed: string;
  /** The file name of the tarball. */
  readonly filename: string;
  readonly tarball: Uint8Array<ArrayBuffer>;
}

/** The folder is removed when this process ends. */
export function packClient(): PackedClient {
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-client-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const words = ['pack', '-w', '@partner-network/client', '--silent', '--pack-destination', folder];
  const filename = execFileSync('npm', words, { cwd: root, encoding: 'utf8' }).trim();
  const path = join(folder, filename);
  const installed = join(folder, 'node_modules/@partner-network/client');
  mkdirSync(installed, { recursive: true });
  const program = { private: true, dependencies: { '@partner-network/client': '*' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(program));
  execFileSync('tar', ['-xzf', path, '--strip-components=1', '-C', installed]);
  return {
    folder,
    installed,
    filename,
    tarball: new Uint8Array(readFileSync(path)),
  };
}
