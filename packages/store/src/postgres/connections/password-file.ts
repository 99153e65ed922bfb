/** The password file of Postgres. `pg` reads it too, but prints that its next version will not. */
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The fields by which a line of the file is chosen. */
export interface Login {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

const field = String.raw`((?:\\.|[^:\\])*)`;
/** `HOST:PORT:DATABASE:USER:PASSWORD`. A colon or a backslash in a field has a backslash before it. */
const line = new RegExp(`^${[field, field, field, field, '(.+)'].join(':')}$`);
/** Permissions of the group and of others. */
const sharedMode = 0o077;

/** The password of the first line for this login, in the file of PGPASSFILE or in ~/.pgpass, as for psql. */
export async function passwordOf({ host, port, database, user }: Login): Promise<string | undefined> {
  const path = process.env.PGPASSFILE || join(homedir(), '.pgpass');
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  if ((found.mode & sharedMode) !== 0)
    throw new Error(`others may read the password file ${path}: set its mode to 0600`);
  const login = [host, String(port), database, user];
  for (const text of (await readFile(path, 'utf8')).split(/\r?\n/)) {
    const fields = line.exec(text)?.slice(1).map(unescaped);
    if (fields !== undefined && login.every((value, index) => ['*', value].includes(fields[index]!)))
      return fields[4];
  }
  return undefined;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}
