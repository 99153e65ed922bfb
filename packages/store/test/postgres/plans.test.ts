/**
 * Every statement of a request reads a short index range, with any statistics: missing, from before a large
 * import, or current ones.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import pg from 'pg';
import { postgresBounds } from '../../../common/src/bounds/store.ts';
import type { Lifetime } from '../../../testkit/fixtures/lifetime.ts';
import { connectTo, databaseLike } from '../../../testkit/servers/postgres.ts';
import { migratedDatabase, serveOptions } from '../../../testkit/service/database.ts';
import { toUpdate } from '../../src/address.ts';
import { planSettings } from '../../src/postgres/connections/connection.ts';
import { openPostgres } from '../../src/postgres/open.ts';
import * as statements from '../../src/postgres/statements.ts';

/** A step of a plan in the output of `explain`. */
interface Step {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Step[];
}

const limit = 50;
const page = ['p07', 'b00500', limit];
const balances = ['c07', 'b00500', limit, 'CHECKING', 'p07', '2026-06-01T00:00:00.000Z'];

/** The statements of requests, with parameters that lead into the middle of the data below. */
const parameters: Readonly<Record<string, readonly (string | number)[]>> = {
  keyByDigest: [`\\x${'00'.repeat(30)}07d0`],
  brandsPage: page,
  brandsPageByReference: [...page, 'shared'],
  balancesUnderGrant: [...balances, 'g02500'],
  balancesUnderAnyGrant: balances,
};

/** 20 partners with 1,000 brands, half of them of one reference, and 20 customers with 1,000 balances. */
const filling = `
  insert into partners (id, name, created_at)
  select 'p' || lpad(p::text, 2, '0'), 'Name', '2026-01-01Z' from generate_series(0, 19) as p;

  insert into api_keys (id, partner_id, digest, last_four, scopes, created_at)
  select 'k' || k, 'p' || lpad((k % 20)::text, 2, '0'), decode(lpad(to_hex(k), 64, '0'), 'hex'), 'abcd',
    'BRANDS_READ', '2026-01-01Z'
  from generate_series(1, 4000) as k;

  insert into brands (partner_id, id, name, reference_id, created_at, updated_at)
  select partners.id, 'b' || lpad(b::text, 5, '0'), 'Name',
    case b % 2 when 0 then 'shared' else 'ref ' || b end, '2026-01-01Z', '2026-01-01Z'
  from partners, generate_series(1, 1000) as b;

  insert into balances (customer_id, id, type, currency, amount, created_at, updated_at)
  select 'c' || lpad(c::text, 2, '0'), 'b' || lpad(b::text, 5, '0'), 'CHECKING', 'USD', b, '2026-01-01Z',
    '2026-01-01Z'
  from generate_series(0, 19) as c, generate_series(1, 1000) as b;

  -- One customer with 5,000 grants: a third is revoked, and one of the others expires later than the rest.
  insert into grants (customer_id, id, partner_id, action, status, expires_at, created_at, updated_at)
  select 'c07', 'g' || lpad(g::text, 5, '0'), 'p07', 'CHECKING_BALANCE',
    case g % 3 when 0 then 'REVOKED' else 'ACTIVE' end,
    case g when 2500 then '2026-06-02Z' else '2026-01-01Z'::timestamptz + g * interval '1 minute' end,
    '2026-01-01Z', '2026-01-01Z'
  from generate_series(1, 5000) as g;`;

async function onDatabase(url: string, script: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(script);
  await client.end();
}

/** Keeps the statistics from changing during the test. */
const withoutStatistics = ['partners', 'api_keys', 'brands', 'balances', 'grants']
  .map((table) => `alter table ${table} set (autovacuum_enabled = off);`)
  .join('');

async function emptyTables(t: Lifetime): Promise<string> {
  const url = await migratedDatabase(t);
  await onDatabase(url, withoutStatistics);
  return url;
}

function filledTables(t: Lifetime): Promise<string> {
  return databaseLike(t, 'filled', async (template) => {
    await (await openPostgres([template], 'sandbox', { ...toUpdate, ...serveOptions })).close();
    await onDatabase(template, withoutStatistics + filling);
  });
}

/** A session with the settings of the service, in which all statements are prepared. */
async function sessionOn(t: Lifetime, url: string): Promise<pg.Client> {
  const client = await connectTo(t, url, { options: planSettings });
  for (const name of Object.keys(parameters)) {
    const { text } = (statements as unknown as Record<string, statements.Statement>)[name]!;
    await client.query(`prepare "${name}" as ${text}`);
  }
  return client;
}

async function stepsOf(client: pg.Client, name: string): Promise<Step[]> {
  const values = parameters[name]!.map((value) => pg.escapeLiteral(String(value))).join(', ');
  const { rows } = await client.query(`explain (analyze, format json) execute "${name}" (${values})`);
  const withAllBelow = (step: Step): Step[] => [step, ...(step.Plans ?? []).flatMap(withAllBelow)];
  return withAllBelow(rows[0]['QUERY PLAN'][0].Plan);
}

/** Scans that read no row, or more rows than the page and the one after it. */
async function unboundedScans(client: pg.Client, name: string): Promise<string[]> {
  return (await stepsOf(client, name)).flatMap((step) => {
    // A scan may be skipped when another one found the row.
    if (step['Relation Name'] === undefined || step['Actual Loops'] === 0) return [];
    const found = step['Actual Rows'] ?? 0;
    const passed = (step['Rows Removed by Filter'] ?? 0) + (step['Rows Removed by Index Recheck'] ?? 0);
    const touched = (found + passed) * (step['Actual Loops'] ?? 0);
    return found > 0 && touched <= limit + 1 ? [] : [`${step['Relation Name']} ${touched}`];
  });
}

async function assertBounds(client: pg.Client): Promise<void> {
  for (const name of Object.keys(parameters)) assert.deepEqual(await unboundedScans(client, name), [], name);
}

test('the plan of every statement is tested here, and each names its shard key', () => {
  const { written, replayed, ...onTables } = statements;
  for (const { text } of [written, replayed]) assert.doesNotMatch(text, /\bfrom\b/);
  assert.deepEqual(Object.keys(onTables).toSorted(), Object.keys(parameters).toSorted());
  const withoutShardKey = /from (brands|balances|grants)\b(?!\s+where (partner|customer)_id = \$1)/;
  for (const { text } of Object.values(onTables)) assert.doesNotMatch(text, withoutShardKey);
});

test('reads no more than a page in large tables, uncounted and counted', async (t) => {
  const client = await sessionOn(t, await filledTables(t));
  await assertBounds(client);
  await client.query('analyze');
  await assertBounds(client);
});

test('plans that were made for empty tables stay good when the tables are filled', async (t) => {
  const url = await emptyTables(t);
  const client = await sessionOn(t, url);
  for (const name of Object.keys(parameters)) await stepsOf(client, name);
  await onDatabase(url, filling);
  await assertBounds(client);
});

test('the documented settings of a role behind a pooler are those of a session', () => {
  const page = readFileSync(
    new URL('../../../../docs/how-to/operators/postgres.md', import.meta.url),
    'utf8',
  );
  const documented = [...page.matchAll(/^alter role network set (\w+) = '?(\w+)'?;$/gm)].map(
    ([, name, value]) => `-c ${name}=${value}`,
  );
  const sent = ['-c statement_timeout=2s', ...planSettings.split(/ (?=-c)/)];
  assert.equal(postgresBounds.statementMs, 2_000);
  assert.deepEqual(documented.toSorted(), sent.toSorted());
});
