/**
 * The roles of the database, with the least that each needs. `partner-network roles` prints them as SQL,
 * `doctor` compares them with the current role, and the documents and the tests are made from them.
 */
import { places } from './distribution/tables.ts';

/** All columns of a table, or those that are named. */
type Columns = 'all' | readonly string[];

type Privilege = 'select' | 'insert' | 'update' | 'delete';

export type Allowed = Readonly<Partial<Record<Privilege, Columns>>>;

export interface Role {
  /** What the role is for, in one sentence. */
  readonly about: string;
  readonly tables: Readonly<Record<string, Allowed>>;
}

const read: Allowed = { select: 'all' };
const recorded: Allowed = { select: 'all', insert: 'all', update: 'all' };
const changed: Allowed = { select: 'all', insert: 'all', update: 'all', delete: 'all' };

/** The database itself adds who wrote an entry. */
const audited: Allowed = { select: 'all', insert: ['at', 'actor', 'action', 'target', 'details'] };

/** The columns of a partner's own rate limits. */
const limits = ['brands_rate', 'balances_rate'];

/** Records, and the memory of what was deleted. */
const imported = {
  brands: changed,
  balances: changed,
  grants: { select: 'all', insert: 'all', update: ['status', 'expires_at', 'created_at', 'updated_at'] },
  deleted_brands: changed,
  deleted_balances: changed,
  erased_customers: read,
  partners: read,
  settings: read,
  audit_log: { insert: audited.insert! },
} as const satisfies Role['tables'];

/** What operators and the administrative service manage. */
const managed = {
  ...imported,
  partners: { select: 'all', insert: 'all', update: ['name', 'disabled_at', ...limits] },
  api_keys: {
    select: 'all',
    insert: 'all',
    update: ['name', 'last_four', 'created_by', 'expires_at', 'revoked_at'],
  },
  grants: { ...imported.grants, delete: 'all' },
  erased_customers: { select: 'all', insert: 'all', update: ['erased_at'] },
  receipts: read,
  key_uses: read,
  usage: read,
  audit_log: audited,
} as const satisfies Role['tables'];

export const roles = {
  network_serve: {
    about: 'serve: reads, and writes receipts, last uses of keys and usage',
    tables: {
      settings: read,
      cursor_keys: read,
      partners: read,
      api_keys: read,
      grants: read,
      balances: read,
      brands: read,
      receipts: { insert: 'all' },
      key_uses: recorded,
      usage: recorded,
    },
  },
  network_import: {
    about: 'import and feeds: records only; no keys, no partners, no receipts',
    tables: imported,
  },
  network_support: {
    about: 'support staff: reads everything but balances and cursor keys; may only take access away',
    tables: {
      settings: read,
      partners: { select: 'all', update: ['disabled_at', ...limits] },
      api_keys: { select: 'all', update: ['expires_at', 'revoked_at'] },
      admin_keys: { select: 'all', update: ['expires_at', 'revoked_at'] },
      grants: { select: 'all', update: ['status', 'expires_at', 'updated_at'] },
      brands: read,
      receipts: read,
      key_uses: read,
      usage: read,
      erased_customers: read,
      audit_log: audited,
    },
  },
  network_operate: {
    about: 'all commands of operators but the deletion of receipts and usage, and "migrate"',
    tables: {
      ...managed,
      admin_keys: { select: 'all', insert: 'all', update: ['last_four', 'expires_at', 'revoked_at'] },
      cursor_keys: { select: 'all', insert: 'all', delete: 'all' },
      // The database makes the secret, so that nobody knows the key.
      session_keys: { insert: ['id', 'created_at'], delete: 'all' },
    },
  },
  network_admin: {
    about: 'the administrative service: what its requests need; cannot write administrative keys',
    tables: {
      ...managed,
      admin_keys: read,
      // Instances of 0.2.0 read it while others are upgraded.
      cursor_keys: read,
      session_keys: read,
      key_uses: recorded,
      ended_sessions: { select: 'all', insert: 'all', delete: 'all' },
    },
  },
  network_retention: {
    about: 'receipts prune and usage prune: deletes both, and writes the audit entry for it',
    tables: {
      settings: read,
      receipts: { select: 'all', delete: 'all' },
      usage: { select: 'all', delete: 'all' },
      audit_log: { insert: audited.insert! },
    },
  },
} as const satisfies Record<string, Role>;

export type RoleName = keyof typeof roles;
export const roleNames = Object.keys(roles) as RoleName[];

/** Tables that Citus manages: those that it distributes, and keys, which refer to partners. */
const ofCitus = [...Object.keys(places), 'api_keys'];

/**
 * The statements that create a role and give it what it needs. Safe to repeat. Citus has no privileges on
 * columns: there, the triggers alone limit what an update can change.
 */
export function statementsOf(name: RoleName, isDistributed = false): string[] {
  const { tables }: Role = roles[name];
  const grants = Object.entries(tables).map(([table, allowed]) => {
    const privileges = (Object.entries(allowed) as [Privilege, Columns][]).map(([privilege, columns]) =>
      columns === 'all' || (isDistributed && ofCitus.includes(table))
        ? privilege
        : `${privilege} (${columns.join(', ')})`,
    );
    return `grant ${privileges.join(', ')} on ${table} to ${name};`;
  });
  return [
    `do $$ begin create role ${name}; exception when duplicate_object or unique_violation then null; end $$;`,
    `revoke all on all tables in schema public from ${name};`,
    // Otherwise a role could add functions that other roles then run.
    'revoke create on schema public from public;',
    `do $$ begin if has_schema_privilege('${name}', 'public', 'create') then raise exception ` +
      `'Run "revoke create on schema public from public" as the owner of the schema first.'; end if; end $$;`,
    `grant usage on schema public to ${name};`,
    ...grants,
  ];
}
