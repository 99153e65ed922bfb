/** The client as a partner gets it: built, packed by npm, and installed into a folder. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildClientPackages, offered, tarball } from '../../../../scripts/packages/clients.ts';
import { unpack } from '../../../testkit/package/installed.ts';

export interface PackedClient {
  /** A folder for programs that import `@partner-network/client`. */
  readonly folder: string;
  /** Where the package is in that folder. */
  readonly installed: string;
  readonly tarball: Uint8Array<ArrayBuffer>;
}

/** The folder is removed when this process ends. */
export async function packClient(): Promise<PackedClient> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-client-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  await buildClientPackages();
  const path = join(offered, tarball);
  const installed = unpack(path, join(folder, 'node_modules/@partner-network/client'));
  const program = { private: true, dependencies: { '@partner-network/client': '*' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(program));
  return {
    folder,
    installed,
    tarball: new Uint8Array(readFileSync(path)),
  };
}
