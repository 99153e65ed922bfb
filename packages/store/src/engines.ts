/** Chooses the engine of a database address. An engine's code is loaded when it is first used. */
import type { Environment } from '@partner-network/contract/environments';
import type { DatabaseAddress, OpenOptions } from './address.ts';
import type { Inspected } from './inspection.ts';
import type { Store } from './port.ts';

export async function openStore(
  address: DatabaseAddress,
  environment: Environment,
  options: OpenOptions = {},
): Promise<Store> {
  if (address.engine === 'sqlite') {
    const { openSqlite } = await import('./sqlite/open.ts');
    return openSqlite(address.path, environment, options);
  }
  const { openPostgres } = await import('./postgres/open.ts');
  return openPostgres(address.urls, environment, options);
}

/** Opens a database for `doctor`, without creating or changing it, and looks at its replicas. */
export async function inspectDatabase(
  address: DatabaseAddress,
  replicas: readonly string[],
  environment: Environment,
): Promise<Inspected> {
  if (address.engine === 'sqlite') {
    return (await import('./sqlite/inspect.ts')).inspectSqlite(address.path, environment);
  }
  return (await import('./postgres/inspect.ts')).inspectPostgres(address.urls, replicas, environment);
}
