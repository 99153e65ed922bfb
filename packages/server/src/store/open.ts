import type { Environment } from '@partner-network/contract/environments';
import type { Store } from './port.ts';
import { openSqlite } from './sqlite/open.ts';

export interface DatabaseAddress {
  readonly engine: 'sqlite';
  readonly path: string;
}

/** To serve from it, to run one command on it, or to run one that may be the first and so makes it. */
export type Purpose = 'serve' | 'command' | 'create';

/** The address behind a database URL, or undefined when no engine knows it. */
export function parseDatabaseUrl(url: string): DatabaseAddress | undefined {
  const path = /^sqlite:(.+)$/s.exec(url)?.[1];
  return path === undefined ? undefined : { engine: 'sqlite', path };
}

export async function openStore(
  { path }: DatabaseAddress,
  environment: Environment,
  purpose: Purpose,
): Promise<Store> {
  return openSqlite(path, environment, purpose);
}
