import type { ListingName } from '@partner-network/contract/operations';
import type { Client } from 'pg';
import { type Finding, failed, ok, skipped } from '../../../lib/finding.ts';
import { OperatorError } from '../../../lib/operator-error.ts';

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

interface Need {
  readonly role: string;
  /** Whether the role's transactions are read-only by default. */
  readonly isReadOnly: boolean;
  readonly privilege: string;
  readonly name: string;
  readonly isHeld: boolean;
  /** The schema that holds the table, if the role lacks usage on it. */
  readonly hiddenIn: string | null;
}

/** Leaves out tables that do not exist yet: the check of the schema reports them. */
const heldPrivileges = `
  select quote_ident(current_user) as role,
    current_setting('default_transaction_read_only')::boolean as "isReadOnly",
    need.privilege, need.name, hidden.schema as "hiddenIn",
    coalesce(has_table_privilege(to_regclass(need.name), need.privilege), false) as "isHeld"
  from unnest($1::text[], $2::text[]) as need (privilege, name)
  left join lateral (
    select quote_ident(nspname) as schema from pg_class c join pg_namespace n on n.oid = relnamespace
    where relname = need.name and relkind in ('r', 'p') and not has_schema_privilege(n.oid, 'usage') limit 1
  ) as hidden on to_regclass(need.name) is null
  where to_regclass(need.name) is not null or hidden.schema is not null`;

export async function privilegesOf(client: Client): Promise<Finding> {
  const wanted = Object.entries(needs).flatMap(([privilege, tables]) =>
    tables.map((table) => [privilege, table]),
  );
  const { rows } = await client.query(heldPrivileges, [
    wanted.map(([privilege]) => privilege),
    wanted.map(([, table]) => table),
  ]);
  return rows.length === 0 ? skipped('There are no tables yet.') : judge(rows);
}

/** Fails the start of `serve` if the role lacks a privilege, before a request could fail for it. */
export async function requirePrivileges(client: Client): Promise<void> {
  const { status, detail, remedy } = await privilegesOf(client);
  if (status === 'failed') throw new OperatorError(`${detail} ${remedy}`);
}

function judge(found: readonly Need[]): Finding {
  const { role, isReadOnly } = found[0]!;
  if (isReadOnly) {
    const remedy = `Set default_transaction_read_only to off for the role and the database.`;
    return failed(`The role ${role} writes nothing here, and serving writes receipts.`, remedy);
  }
  const lacking = found.filter(({ isHeld }) => !isHeld);
  if (lacking.length === 0) return ok(`The role ${role} may do all that serving takes.`);
  const hidden = lacking.find(({ hiddenIn }) => hiddenIn !== null)?.hiddenIn;
  const byPrivilege = Object.entries(Object.groupBy(lacking, ({ privilege }) => privilege)).map(
    ([privilege, all]) => `${privilege} on ${all!.map(({ name }) => name).join(', ')}`,
  );
  const usage = hidden === undefined ? [] : [`grant usage on schema ${hidden} to ${role};`];
  const grants = byPrivilege.map((what) => `grant ${what} to ${role};`);
  return failed(
    `The role ${role} lacks ${byPrivilege.join(' and ')}.`,
    `As the owner of the database: ${[...usage, ...grants].join(' ')}`,
  );
}
