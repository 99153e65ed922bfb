/** The files of the image, in one folder for each layer, as deploy/Containerfile copies them. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packServer, unpack } from '../../packages/testkit/package/installed.ts';
import { imageSbom, nodePackage, sharedLibrariesOf } from './sbom.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** `created` is the time of the sources. An upgrade of our package usually changes its own layer alone. */
export function writeFiles(folder: string, created: string): void {
  const node = join(root, 'node_modules', nodePackage);
  const remedy = 'Run "npm ci" on Linux, on an x64 or arm64 processor.';
  if (!existsSync(node)) throw new Error(`node_modules has no ${nodePackage}. ${remedy}`);
  const copy = (from: string, to: string) =>
    cpSync(from, join(folder, to), { recursive: true, dereference: true });

  const libraries = sharedLibrariesOf(join(node, 'bin/node'));
  const copyrights = libraries.map(({ debian }) => `/usr/share/doc/${debian.name}/copyright`);
  for (const path of [...libraries.map((library) => library.path), ...copyrights.filter(existsSync)]) {
    copy(path, join('node', path));
  }
  copy(join(node, 'bin/node'), 'node/usr/bin/node');
  copy(join(node, 'LICENSE'), 'node/usr/share/doc/node/LICENSE');
  copy(join(import.meta.dirname, 'rootfs'), 'node');

  const installed = unpack(packServer(folder), join(folder, 'package/usr/lib/node_modules/partner-network'));
  const sbom = join(folder, 'package/usr/share/sbom');
  mkdirSync(sbom, { recursive: true });
  const inside = JSON.parse(readFileSync(join(installed, 'share/partner-network.cdx.json'), 'utf8'));
  const parts = imageSbom(inside, created, libraries);
  writeFileSync(join(sbom, 'partner-network.cdx.json'), `${JSON.stringify(parts, null, 2)}\n`);

  // Files that the umask made private become readable. Like Git, this keeps only whether a file is a program.
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
  for (const path of ['node/tmp', 'volume/data']) mkdirSync(join(folder, path), { recursive: true });
  chmodSync(join(folder, 'node/tmp'), 0o1777);
  chmodSync(join(folder, 'volume/data'), 0o750);
}

// For the Containerfile.
if (import.meta.main) writeFiles(process.argv[2]!, process.argv[3]!);
