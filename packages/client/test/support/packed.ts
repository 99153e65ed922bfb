/** The client as a partner gets it: built, packed by npm, and installed into a folder. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildClient } from '../../../../scripts/packages/client.ts';

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
export async function packClient(): Promise<PackedClient> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-client-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const built = join(folder, 'built');
  await buildClient(built);
  const words = ['pack', built, '--json', '--silent', '--pack-destination', folder];
  const [packed] = Object.values(JSON.parse(execFileSync('npm', words, { encoding: 'utf8' })));
  const { filename } = packed as { filename: string };
  const path = join(folder, filename);
  rmSync(built, { recursive: true });
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
