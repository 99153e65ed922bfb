/** Chooses the engine of a database address. An engine's code is loaded when it is first used. */
import type { Environment } from '@partner-network/contract/environments';
import type { Finding } from '../lib/finding.ts';
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

export async function inspectDatabase(
  address: DatabaseAddress,
  environment: Environment,
): Promise<Inspected> {
  if (address.engine === 'sqlite') {
    return (await import('./sqlite/inspect.ts')).inspectSqlite(address.path, environment);
  }
  return (await import('./postgres/inspect/inspect.ts')).inspectPostgres(address.urls);
}

/** One finding for each replica. If the primary answers, it also checks that the replica is a copy of it. */
export async function inspectReplicas(
  address: DatabaseAddress,
  replicas: readonly string[],
  environment: Environment,
): Promise<readonly Finding[]> {
  if (replicas.length === 0 || address.engine === 'sqlite') return [];
  const { inspectStandbys } = await import('./postgres/inspect/standbys.ts');
  return inspectStandbys(address.urls, replicas, environment);
}
