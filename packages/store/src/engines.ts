/** Chooses the engine of a database address. An engine's code is loaded when it is first used. */
import type { Environment } from '@partner-network/contract/environments';
import type { DatabaseAddress, Purpose, StoreOptions } from './address.ts';
import type { Inspected } from './inspection.ts';
import type { Store } from './port.ts';

const forCommands: StoreOptions = { replicas: [], connections: 1, keepsSession: true };

export async function openStore(
  address: DatabaseAddress,
  environment: Environment,
  purpose: Purpose,
  options: StoreOptions = forCommands,
): Promise<Store> {
  if (address.engine === 'sqlite') {
    const { openSqlite } = await import('./sqlite/open.ts');
    return openSqlite(address.path, environment, purpose);
  }
  const { openPostgres } = await import('./postgres/open.ts');
  return openPostgres(address.urls, environment, purpose, options);
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
