import type { Environment } from '@partner-network/contract/scopes';
import type { Store } from './port.ts';
import { openSqlite } from './sqlite/open.ts';

export interface DatabaseAddress {
  readonly engine: 'sqlite';
  readonly path: string;
}

/** The address behind a database URL, or undefined when no engine knows it. */
export function parseDatabaseUrl(url: string): DatabaseAddress | undefined {
  const path = /^sqlite:(.+)$/s.exec(url)?.[1];
  return path === undefined ? undefined : { engine: 'sqlite', path };
}

export async function openStore(
  address: DatabaseAddress,
  environment: Environment,
  busyMs: number,
): Promise<Store> {
  return openSqlite(address.path, environment, busyMs);
}
