/** A Citus cluster with records on both workers, loaded by our own commands. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { apiKeyOf, digestOfKey } from '../../../../packages/service/src/auth.ts';
import { openStore } from '../../../../packages/store/src/engines.ts';
import { startCluster } from '../../../../packages/testkit/citus/cluster.ts';
import { byTest, createdAt } from '../../../../packages/testkit/fixtures/fixture.ts';
import { type Lifetime, temporaryFolder } from '../../../../packages/testkit/fixtures/lifetime.ts';
import { type Finished, run } from '../../../../packages/testkit/fixtures/run.ts';
import { serveSandbox } from '../../../../packages/testkit/fixtures/served.ts';
import { connectTo, type PostgresServer, wholeFile } from '../../../../packages/testkit/servers/postgres.ts';
import { onConnection } from '../../../../packages/testkit/servers/postgres-start.ts';

/** A listing of one partner, all of whose records are on one worker. */
export interface Target {
  /** The partner or the customer that the records belong to. */
  readonly owner: string;
  readonly listing: 'brands' | 'balances';
  readonly path: string;
  readonly key: string;
  /** The port of the worker. */
  readonly port: number;
  /** The ids of its records, in the order of the listing. */
  readonly ids: readonly string[];
}

const partners = ['amber', 'birch', 'cedar', 'dune', 'elm', 'fir', 'gorse', 'hazel'];
const customers = Array.from({ length: 200 }, (_, index) => `customer-${index}`);
const partnerOf = (customer: string) => partners[customers.indexOf(customer) % partners.length]!;
const keyOf = (partner: string) => apiKeyOf('sandbox', partner.padEnd(43, '0'));

const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}-${String(index).padStart(4, '0')}`);
const ids = { brands: numbered('brand', 500), balances: numbered('balance', 20) };
const times = { created_at: createdAt, updated_at: createdAt };

export const brand = (partner_id: string, id: string) => ({
  id,
  partner_id,
  reference_id: id,
  name: `${id} of ${partner_id}`,
  ...times,
});

export const balance = (customer_id: string, id: string) => ({
  id,
  customer_id,
  type: 'CHECKING',
  currency: 'USD',
  amount: 1_000,
  ...times,
});

const grant = (customer_id: string) => ({
  id: `grant-${customer_id}`,
  customer_id,
  partner_id: partnerOf(customer_id),
  ...times,
});

const records = {
  brands: partners.flatMap((partner) => ids.brands.map((id) => brand(partner, id))),
  balances: customers.flatMap((customer) => ids.balances.map((id) => balance(customer, id))),
  grants: customers.map(grant),
};

export type Stage = Awaited<ReturnType<typeof startStage>>;

/** Starts the cluster of a test file. */
export async function startStage() {
  const cluster = await startCluster(wholeFile);
  const superuser = await cluster.createDatabase('network');
  const admin = await connectTo(wholeFile, superuser);
  await admin.query('create role owner login');
  await admin.query('alter database network owner to owner');
  await admin.query('grant create on schema public to owner');
  const database = superuser.replace('//postgres@', '//owner@');
  const folder = temporaryFolder(wholeFile);
  const where = ['--database', database, '--environment', 'sandbox'];

  const attempt = (...words: string[]): Promise<Finished> => run([...words, ...where]);

  /** Runs a command that must succeed. Returns its output. */
  async function command(...words: string[]): Promise<string> {
    const { status, stdout, stderr } = await attempt(...words);
    assert.equal(status, 0, `${words.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** Writes a file for an import. */
  function fileOf(name: string, lines: readonly object[]): string {
    const path = join(folder, `${name}.jsonl`);
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return path;
  }

  await command('migrate', '--distribute');
  await createAccounts(database);
  for (const [kind, lines] of Object.entries(records)) await command('import', kind, fileOf(kind, lines));
  const targets = await findTargets(admin);
  const isOn = ({ port }: PostgresServer, target: Target) => target.port === port;
  return {
    cluster,
    admin,
    database,
    where,
    attempt,
    command,
    fileOf,
    targets,
    on: (worker: PostgresServer) => targets.filter((target) => isOn(worker, target)),
    notOn: (worker: PostgresServer) => targets.filter((target) => !isOn(worker, target)),
    /** Ends the transactions that a killed node left behind. Citus does so once a minute. */
    recover: () =>
      onConnection(superuser, async (client) => {
        await client.query('select recover_prepared_transactions()');
      }),
    serve: (t: Lifetime) => serveSandbox(t, database, ['--brands-rate', '0', '--log-level', 'warn']),
  };
}

async function createAccounts(database: string): Promise<void> {
  const store = await openStore({ engine: 'postgres', urls: [database] }, 'sandbox');
  for (const id of partners) {
    await store.createPartner({ id, name: id, created_at: createdAt }, byTest);
    const text = keyOf(id);
    const key = { id: `KEY_${id}`, partner_id: id, last_four: text.slice(-4), created_at: createdAt };
    await store.createKey({ ...key, scopes: ['BALANCES_READ', 'BRANDS_READ'] }, digestOfKey(text), byTest);
  }
  await store.close();
}

/** $1 table, $2 partner or customer: the shard of its records, and the port of the worker that has it. */
export const placement = `
  select shardid as shard, nodeport as port from pg_dist_placement join pg_dist_node using (groupid)
  where shardid = (select get_shard_id_for_distribution_column($1::text::regclass, $2::text))`;

async function findTargets(admin: pg.Client): Promise<Target[]> {
  const found: Target[] = [];
  const add = async (listing: Target['listing'], owner: string, partner: string, parameters = '') => {
    const { port } = (await admin.query(placement, [listing, owner])).rows[0];
    const path = `/network/v1/${listing}?${parameters}`;
    found.push({ listing, owner, path, key: keyOf(partner), port, ids: ids[listing] });
  };
  for (const partner of partners) await add('brands', partner, partner);
  for (const customer of customers) {
    await add('balances', customer, partnerOf(customer), `type=CHECKING&customer_id=${customer}`);
  }
  return found;
}
