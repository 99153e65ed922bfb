/**
 * Builds the packages of our clients, which a service offers at /docs/clients, in
 * packages/service/assets/clients. npm runs this before it packs the server. Usage in a checkout:
 * node scripts/packages/clients.ts
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonThatRuns } from '../../packages/testkit/clients/python.ts';
import { buildClient } from './client.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const offered = join(root, 'packages/service/assets/clients');

const { version } = JSON.parse(readFileSync(join(root, 'packages/client/package.json'), 'utf8'));
export const tarball = `partner-network-client-${version}.tgz`;
export const wheel = `partner_network_client-${version.replace('-dev', '.dev0')}-py3-none-any.whl`;

/** Builds what is missing or older than its sources. Without Python, it leaves out the client for Python. */
export async function buildClientPackages(): Promise<void> {
  mkdirSync(offered, { recursive: true });
  for (const name of readdirSync(offered)) if (![tarball, wheel].includes(name)) rmSync(join(offered, name));
  await build(tarball, 'packages/client/{package.json,README.md,LICENSE,src,src/**}', buildTarball);
  const python = wheelBuilder();
  if (python !== undefined) {
    const sources = 'clients/python/{pyproject.toml,README.md,LICENSE,src/*,src/*/*.*}';
    return build(wheel, sources, (folder) => buildWheel(folder, python));
  }
  rmSync(join(offered, wheel), { force: true });
  console.warn(`The client for Python is left out. Its build needs Python 3.10 or later, with pip, setuptools
and wheel (on Debian: apt-get install python3-pip python3-setuptools python3-wheel).`);
}

/** Builds a file beside the folder, so that no service offers half of it. */
async function build(name: string, sources: string, write: (folder: string) => void | Promise<void>) {
  const changed = globSync([sources, 'scripts/packages/client*.ts'], { cwd: root }).map(
    (path) => statSync(join(root, path)).mtimeMs,
  );
  const built = statSync(join(offered, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (built > Math.max(...changed)) return;
  const folder = mkdtempSync(`${offered}-`);
  const umask = process.umask(0o022);
  try {
    await write(folder);
    renameSync(join(folder, name), join(offered, name));
  } finally {
    process.umask(umask);
    rmSync(folder, { recursive: true });
  }
}

/** Builds in a copy, because others may pack the client at the same time. */
async function buildTarball(folder: string): Promise<void> {
  const copy = join(folder, 'client');
  copyFiles('packages/client', '{README.md,LICENSE}', copy);
  await buildClient(copy);
  const words = ['pack', copy, '--ignore-scripts', '--silent', '--pack-destination', folder];
  execFileSync('npm', words, { stdio: ['ignore', 'ignore', 'inherit'] });
}

export const wheelBuilder = () =>
  pythonThatRuns('import sys, setuptools, wheel, pip; sys.exit(sys.version_info < (3, 10))');

/** Builds in a copy, because setuptools writes beside the sources. The same sources give the same bytes. */
function buildWheel(folder: string, python: string): void {
  const copy = join(folder, 'client');
  copyFiles('clients/python', '{pyproject.toml,README.md,LICENSE,src/*/*.{py,typed}}', copy);
  const env = { PATH: `${dirname(python)}:/usr/bin:/bin`, HOME: folder, SOURCE_DATE_EPOCH: '1000000000' };
  const words = ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--no-build-isolation', '--no-index'];
  execFileSync(python, [...words, '--disable-pip-version-check', '--wheel-dir', folder, copy], { env });
}

/** Copies files. All get the same mode, because a package contains it. */
function copyFiles(from: string, pattern: string, to: string): void {
  const cwd = join(root, from);
  for (const path of globSync(pattern, { cwd })) {
    cpSync(join(cwd, path), join(to, path));
    chmodSync(join(to, path), 0o644);
  }
}

if (import.meta.main) await buildClientPackages();
