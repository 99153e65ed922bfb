/** What test/releases/ keeps of each release: databases with data, the package, and the API. */
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { type Lifetime, temporaryFolder } from '../fixtures/lifetime.ts';
import { unpack } from '../package/installed.ts';
import { onConnection } from '../servers/postgres-start.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The versions that were released, oldest first. 0.0.0 stands for everything before the first release. */
export const releases: readonly string[] = readdirSync(join(root, 'test/releases'))
  .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
  .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));

const fileOf = (release: string, name: string) => join(root, 'test/releases', release, name);

const unzipped = (release: string, name: string) => gunzipSync(readFileSync(fileOf(release, `${name}.gz`)));

/** The SHA-256 of each migration of a release, by its path in packages/store/src. */
function migrationsOf(release: string): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(fileOf(release, 'migrations.json'), 'utf8'));
}

/** The version of the schema that a release made. */
export function schemaOf(release: string, engine: 'sqlite' | 'postgres'): number {
  return Object.keys(migrationsOf(release)).filter((path) => path.startsWith(`${engine}/migrations/`)).length;
}

/** Writes an embedded database of a release, and its receipts, to a new file. */
export function placeSqliteOf(release: string, path: string): void {
  writeFileSync(path, unzipped(release, 'sqlite.db'), { mode: 0o600 });
  writeFileSync(`${path}-receipts`, unzipped(release, 'sqlite.db-receipts'), { mode: 0o600 });
}

/** Fills an empty Postgres database with that of a release. */
export async function loadPostgresOf(release: string, url: string): Promise<void> {
  await onConnection(url, (client) => client.query(unzipped(release, 'postgres.sql').toString()));
}

/** The path of a release's package, whether it is kept or not. */
export const packagePathOf = (release: string) => fileOf(release, `partner-network-${release}.tgz`);

/** The releases whose packages are kept, oldest first. */
export const packagedReleases = releases.filter((release) => existsSync(packagePathOf(release)));

/** The newest release whose package is kept. */
export function newestPackage(): { readonly release: string; readonly file: string } | undefined {
  const release = packagedReleases.at(-1);
  return release === undefined ? undefined : { release, file: packagePathOf(release) };
}

/** Unpacks a package, which uses the dependencies of this repository. Returns its executable. */
export function placePackage(t: Lifetime, file: string): string {
  const folder = temporaryFolder(t);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(unpack(file, join(folder, 'package')), 'bin/partner-network.js');
}
