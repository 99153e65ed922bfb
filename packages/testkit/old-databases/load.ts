/** Databases that older versions made, with data. `scripts/old-database.ts` writes them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { onConnection } from '../servers/postgres-start.ts';

const folder = new URL('./', import.meta.url);

/** The schema versions for which a database is kept, oldest first. */
export function oldVersions(engine: 'sqlite' | 'postgres'): number[] {
  const versions = readdirSync(folder).map(
    (name) => new RegExp(`^${engine}-(\\d+)\\.\\w+\\.gz$`).exec(name)?.[1],
  );
  return versions
    .flatMap((version) => (version === undefined ? [] : Number(version)))
    .toSorted((a, b) => a - b);
}

function contentOf(name: string): Buffer {
  return gunzipSync(readFileSync(new URL(`${name}.gz`, folder)));
}

/** Writes an embedded database, and its receipts, to a new file. */
export function placeOldSqlite(path: string, version: number): void {
  writeFileSync(path, contentOf(`sqlite-${version}.db`), { mode: 0o600 });
  writeFileSync(`${path}-receipts`, contentOf(`sqlite-${version}.db-receipts`), { mode: 0o600 });
}

/** Fills an empty Postgres database. */
export async function loadOldPostgres(url: string, version: number): Promise<void> {
  await onConnection(url, (client) => client.query(contentOf(`postgres-${version}.sql`).toString()));
}
