/** The client as a partner gets it, unpacked in a folder. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientFiles } from '../../../service/src/site/clients.ts';
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
  const [client] = clientFiles();
  const path = join(folder, client!.name);
  const tarball = new Uint8Array(await client!.content());
  writeFileSync(path, tarball);
  const installed = unpack(path, join(folder, 'node_modules/@partner-network/client'));
  const program = { private: true, dependencies: { '@partner-network/client': '*' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(program));
  return { folder, installed, tarball };
}
