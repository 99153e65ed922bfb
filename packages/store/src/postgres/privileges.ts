import { type Finding, failed, ok, skipped } from '@partner-network/common/finding';
import { OperatorError } from '@partner-network/common/operator-error';
import type { ListingName } from '@partner-network/contract/operations';
import type { Client } from 'pg';

/** The tables that each listing reads. */
const tablesOf: Readonly<Record<ListingName, readonly string[]>> = {
  balances: ['grants', 'balances'],
  brands: ['brands'],
};

/** The privileges that `serve` needs. To update `key_uses` it also has to read it. */
const needs: Readonly<Record<string, readonly string[]>> = {
  select: ['settings', 'cursor_keys', 'partners', 'api_keys', ...Object.values(tablesOf).flat(), 'key_uses'],
  insert: ['receipts', 'key_uses'],
  update: ['key_uses'],
};

/**
 * One row for each privilege on each table. Leaves out tables that do not exist yet: the check of the schema
 * reports them. `hidden_in` is the table's schema if the role lacks usage on it.
 */
const heldPrivileges = `
  select quote_ident(current_user) as role,
    current_setting('default_transaction_read_only')::boolean as is_read_only,
    privilege, name, hidden.schema as hidden_in,
    coalesce(has_table_privilege(to_regclass(name), privilege), false) as is_held
  from json_each($1) as needed (privilege, tables)
  cross join json_array_elements_text(tables) as name
  left join lateral (
    select quote_ident(nspname) as schema from pg_class c join pg_namespace n on n.oid = relnamespace
    where relname = name and relkind in ('r', 'p') and not has_schema_privilege(n.oid, 'usage') limit 1
  ) as hidden on to_regclass(name) is null
  where to_regclass(name) is not null or hidden.schema is not null`;

export async function privilegesOf(client: Client): Promise<Finding> {
  const { rows: found } = await client.query(heldPrivileges, [JSON.stringify(needs)]);
  if (found.length === 0) return skipped('There are no tables yet.');
  const { role, is_read_only } = found[0];
  if (is_read_only) {
    const remedy = `Set default_transaction_read_only to off for the role and the database.`;
    return failed(`The role ${role} is read-only here, but serving writes receipts.`, remedy);
  }
  const lacking = found.filter(({ is_held }) => !is_held);
  if (lacking.length === 0) return ok(`The role ${role} has all privileges that serving needs.`);
  const byPrivilege = Object.entries(Object.groupBy(lacking, ({ privilege }) => privilege)).map(
    ([privilege, all]) => `${privilege} on ${all!.map(({ name }) => name).join(', ')}`,
  );
  const hidden = lacking.find(({ hidden_in }) => hidden_in !== null)?.hidden_in;
  const usage = hidden === undefined ? [] : [`usage on schema ${hidden}`];
  const grants = [...usage, ...byPrivilege].map((what) => `grant ${what} to ${role};`);
  return failed(
    `The role ${role} lacks ${byPrivilege.join(' and ')}.`,
    `Run as the owner of the database: ${grants.join(' ')}`,
  );
}

/** Fails the start of `serve` if the role lacks a privilege, before a request could fail for it. */
export async function requirePrivileges(client: Client): Promise<void> {
  const { status, detail, remedy } = await privilegesOf(client);
  if (status === 'failed') throw new OperatorError(`${detail} ${remedy}`);
}
