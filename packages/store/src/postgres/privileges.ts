/** Compares the current role with what its duty needs: what is missing, and what is too much. */
import { OperatorError } from '@partner-network/common/errors';
import { type Finding, failed, ok, skipped, warning } from '@partner-network/common/finding';
import type { Client } from 'pg';
import { type Allowed, type Role, type RoleName, roles } from './roles.ts';

const tables = [...new Set(Object.values(roles).flatMap((role: Role) => Object.keys(role.tables)))];

/**
 * One row for each privilege on each table, with the columns that the role may use. Leaves out tables that do
 * not exist yet: the check of the schema reports them. `hidden_in` is the table's schema if the role lacks
 * usage on it.
 */
const heldPrivileges = `
  select quote_ident(current_user) as role,
    current_setting('default_transaction_read_only')::boolean as is_read_only,
    coalesce(has_schema_privilege(to_regnamespace('public'), 'create'), false) as may_create,
    name, privilege, found.schema as hidden_in,
    coalesce(pg_has_role(relowner, 'usage'), false) as is_owner,
    coalesce(has_table_privilege(c.oid, privilege), false) as is_held,
    array(
      select attname::text from pg_attribute
      where attrelid = c.oid and attnum > 0 and not attisdropped and privilege <> 'delete'
        and has_column_privilege(c.oid, attnum, replace(privilege, 'delete', 'select'))
    ) as columns
  from unnest($1::text[]) as name
  cross join unnest(array['select', 'insert', 'update', 'delete']) as privilege
  left join pg_class c on c.oid = to_regclass(name)
  left join lateral (
    select quote_ident(nspname) as schema from pg_class h join pg_namespace n on n.oid = h.relnamespace
    where h.relname = name and h.relkind in ('r', 'p') and not has_schema_privilege(n.oid, 'usage') limit 1
  ) as found on c.oid is null
  where c.oid is not null or found.schema is not null
  order by array_position(array['select', 'insert', 'update', 'delete'], privilege),
    array_position($1, name)`;

interface Held {
  readonly role: string;
  readonly is_read_only: boolean;
  /** Whether it may add functions to the schema of the tables, which other roles would run. */
  readonly may_create: boolean;
  readonly name: string;
  readonly privilege: keyof Allowed;
  readonly hidden_in: string | null;
  readonly is_owner: boolean;
  readonly is_held: boolean;
  readonly columns: readonly string[];
}

type Needed = Role['tables'];

/** A privilege on some columns is enough where the role needs no more. */
const isLacking = (needed: Needed, { name, privilege, is_held, columns }: Held) => {
  const wanted = needed[name]?.[privilege];
  if (wanted === undefined || is_held) return false;
  return wanted === 'all' || !wanted.every((column) => columns.includes(column));
};
const isTooMuch = (needed: Needed, { name, privilege, is_held, columns }: Held) =>
  needed[name]?.[privilege] === undefined && (is_held || columns.length > 0);

/** Such as "select on settings, brands and insert on receipts". */
function inWords(held: readonly Held[]): string[] {
  return Object.entries(Object.groupBy(held, ({ privilege }) => privilege)).map(
    ([privilege, all]) => `${privilege} on ${all.map(({ name }) => name).join(', ')}`,
  );
}

/** What each role is for, in sentences. */
const duties: Readonly<Record<RoleName, string>> = {
  network_serve: 'serving',
  network_import: 'importing',
  network_support: 'support',
  network_operate: 'operating',
  network_admin: 'the administrative service',
  network_retention: 'retention',
};

/** The role that a login is for: serving if it can serve, else the role that it exceeds least. */
function dutyOf(held: readonly Held[]): RoleName {
  const count = (isCounted: typeof isLacking, name: RoleName) =>
    held.filter((one) => isCounted(roles[name].tables, one)).length;
  const able = (Object.keys(roles) as RoleName[]).filter((name) => count(isLacking, name) === 0);
  const [closest = 'network_serve'] = able.toSorted((a, b) => count(isTooMuch, a) - count(isTooMuch, b));
  return able.includes('network_serve') ? 'network_serve' : closest;
}

type Service = 'network_serve' | 'network_admin';

export async function privilegesOf(client: Client, service?: Service): Promise<Finding> {
  const held: Held[] = (await client.query(heldPrivileges, [tables])).rows;
  if (held.length === 0) return skipped('There are no tables yet.');
  const duty = service ?? dutyOf(held);
  const needed: Needed = roles[duty].tables;
  const what = duties[duty];
  const { role, is_read_only, may_create } = held[0]!;
  if (is_read_only) {
    const remedy = `Set default_transaction_read_only to off for the role and the database.`;
    return failed(`The role ${role} is read-only here, but ${what} writes.`, remedy);
  }
  const lacking = held.filter((one) => isLacking(needed, one));
  if (lacking.length > 0) {
    const hidden = lacking.find(({ hidden_in }) => hidden_in !== null)?.hidden_in;
    const usage = hidden ? [`usage on schema ${hidden}`] : [];
    const grants = [...usage, ...inWords(lacking)].map((what) => `grant ${what} to ${role};`);
    return failed(
      `The role ${role} lacks ${inWords(lacking).join(' and ')}.`,
      `Run as the owner of the database: ${grants.join(' ')}`,
    );
  }
  const remedy = `Use the role ${duty}: "partner-network roles" prints its SQL.`;
  if (held.some(({ is_owner }) => is_owner)) {
    const detail = 'so it can change everything, and remove the rules that protect keys and the audit log';
    return warning(`The role ${role} owns the tables, ${detail}.`, remedy);
  }
  const tooMuch = held.filter((one) => isTooMuch(needed, one));
  const more = [...inWords(tooMuch), ...(may_create ? ['create on schema public'] : [])];
  if (more.length > 0) {
    return warning(`The role ${role} has more than ${what} needs: ${more.join(' and ')}.`, remedy);
  }
  return ok(`The role ${role} has all privileges that ${what} needs, and no others.`);
}

/** Fails the start of a service if its role lacks a privilege, before a request could fail for it. */
export async function requirePrivileges(client: Client, service: Service): Promise<void> {
  const { status, detail, remedy } = await privilegesOf(client, service);
  if (status === 'failed') throw new OperatorError(`${detail} ${remedy}`);
}
