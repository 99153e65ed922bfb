import type { Environment } from '@partner-network/contract/environments';
import { OperatorError } from '../../operator-error.ts';
import { createAccounts, type Sql } from '../accounts.ts';
import type { Purpose, StoreOptions } from '../open.ts';
import type { Migration, Store } from '../port.ts';
import { connectToPrimary } from './connect.ts';
import { translated } from './errors.ts';
import { createImports } from './imports.ts';
import { storeMetrics } from './metrics.ts';
import { migrate, requireCurrent } from './migrate.ts';
import { createPool, type Pool } from './pool.ts';
import { createReads } from './reads.ts';
import { createReplicas } from './replicas.ts';

/** Opens a Postgres database; only to migrate does it change its schema. */
export async function openPostgres(
  urls: readonly string[],
  environment: Environment,
  purpose: Purpose,
  { replicas: replicaUrls, connections, keepsSession }: StoreOptions,
): Promise<Store> {
  const migration = await prepareSchema(urls, environment, purpose);
  const settings = { environment, connections, keepsSession, isHot: purpose === 'serve' };
  const primary = createPool({ ...settings, urls, role: 'primary' });
  const replicas = replicaUrls.length === 0 ? undefined : createReplicas(urls, replicaUrls, settings);
  return {
    environment,
    migration,
    metrics: storeMetrics(primary, replicas),
    ...createReads(primary, replicas),
    ...createAccounts(sqlOn(primary)),
    ...createImports(() => connectToPrimary(urls)),
    close: async () => {
      await replicas?.close();
      await primary.close();
    },
  };
}

async function prepareSchema(
  urls: readonly string[],
  environment: Environment,
  purpose: Purpose,
): Promise<Migration> {
  const client = await connectToPrimary(urls);
  try {
    return await (purpose === 'migrate' ? migrate(client, environment) : requireCurrent(client, environment));
  } catch (error) {
    throw error instanceof OperatorError ? error : translated(error);
  } finally {
    await client.end();
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
