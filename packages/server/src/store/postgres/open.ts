import type { Environment } from '@partner-network/contract/environments';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Purpose, StoreOptions } from '../address.ts';
import type { Migration, Store } from '../port.ts';
import { createAccounts, type Sql } from '../sql/accounts.ts';
import { createMoves } from '../sql/moves.ts';
import { connectToPrimary } from './connections/connect.ts';
import { type Connection, instancePrefix, urlUnderName } from './connections/connection.ts';
import { translated, unreachable } from './connections/errors.ts';
import { storeMetrics } from './connections/metrics.ts';
import { createPool, type Pool } from './connections/pool.ts';
import { createLookout } from './connections/primary-watch.ts';
import { createReplicas } from './connections/replicas.ts';
import { examine } from './connections/server.ts';
import { createRotations } from './cursor-keys.ts';
import { createExports } from './exports.ts';
import { createImports } from './imports.ts';
import { requirePrivileges } from './inspect/privileges.ts';
import { migrate, requireCurrent } from './migrate.ts';
import { createReads } from './reads.ts';
import { createReceipts } from './receipts.ts';

/** Opens a Postgres database; only to migrate does it change its schema. */
export async function openPostgres(
  addresses: readonly string[],
  environment: Environment,
  purpose: Purpose,
  { replicas: replicaAddresses, connections, keepsSession, instance }: StoreOptions,
): Promise<Store> {
  const named = (url: string) =>
    instance === undefined ? url : urlUnderName(url, `${instancePrefix}${instance}`);
  const [urls, replicaUrls] = [addresses.map(named), replicaAddresses.map(named)];
  const first = await connectToPrimary(urls);
  const migration = await prepareSchema(first.client, environment, purpose);
  const lookout = createLookout({ urls, environment, first });
  const settings = { connections, keepsSession, isHot: purpose === 'serve' };
  const primary = createPool({ ...settings, source: lookout });
  // A connection apart: when all of the others are in use, receipts are written, and never by more than one.
  const apart = { ...settings, source: lookout, connections: 1, name: 'partner-network receipts' };
  const journal = purpose === 'serve' ? createPool(apart) : primary;
  const replicas =
    replicaUrls.length === 0 ? undefined : createReplicas(lookout, replicaUrls, environment, settings);
  return {
    environment,
    migration,
    metrics: storeMetrics(primary, replicas),
    ...createReads(primary, replicas),
    // It is asked five times a second anyway; a probe need not wait for a connection that requests want.
    ping: lookout.ping,
    ...createAccounts(sqlOn(primary)),
    ...createRotations(primary),
    ...createReceipts(journal),
    ...createMoves(sqlOn(primary)),
    ...createExports(primary),
    ...createImports(async () => {
      const { client } = await connectToPrimary(urls);
      try {
        await examine(client, 'primary', environment);
        return client;
      } catch (error) {
        client.abandon();
        throw unreachable(error);
      }
    }),
    close: async () => {
      await replicas?.close();
      await journal.close();
      await primary.close();
      await lookout.close();
    },
  };
}

async function prepareSchema(
  client: Connection,
  environment: Environment,
  purpose: Purpose,
): Promise<Migration> {
  try {
    if (purpose === 'migrate') return await migrate(client, environment);
    const migration = await requireCurrent(client, environment);
    if (purpose === 'serve') await requirePrivileges(client);
    return migration;
  } catch (error) {
    await client.leave();
    throw error instanceof OperatorError ? error : translated(error);
  }
}

function sqlOn(pool: Pool): Sql {
  return {
    rows: (text, ...values) => pool.query({ text }, values),
    write: (...statements) =>
      pool.transaction(async (client) => {
        for (const [text, ...values] of statements) await client.query(text, values);
      }),
  };
}
