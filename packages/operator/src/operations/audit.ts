/** Reads the audit log with the names of keys, which people know better than ids. */
import {
  AccessDenied,
  type AuditEntry,
  type AuditQuery,
  type NumberedEntry,
  type Store,
} from '@partner-network/store/port';

/** An entry, with the name of the key if a key made the change. */
export type NamedEntry = AuditEntry & { readonly actor_name?: string };

type Names = ReadonlyMap<string, string>;

/** The names of keys by their actors. Empty for a login that may read only the audit log. */
export async function keyNames({ listAdminKeys }: Pick<Store, 'listAdminKeys'>): Promise<Names> {
  const keys = await listAdminKeys().catch((error) => {
    if (error instanceof AccessDenied) return [];
    throw error;
  });
  return new Map(keys.map(({ id, name }) => [`admin-key:${id}`, name]));
}

/** The actors that a text means: an actor, a person's account, or the id or name of administrative keys. */
export function actorsOf(text: string, names: Names): string[] {
  const named = [...names].filter(([, name]) => name === text);
  return [text, `person:${text}`, `admin-key:${text}`, ...named.map(([actor]) => actor)];
}

interface NamedQuery extends Omit<AuditQuery, 'action'> {
  readonly actions: readonly (string | undefined)[];
}

/**
 * A page of the log, newest first, with the changes of the keys and grants of a partner or a customer. Each
 * actor, action and kind of target has its own place in an index.
 */
export async function listNamedAudit(
  store: Pick<Store, 'listAdminKeys' | 'listAudit'>,
  { actor: asked, actions, target, ...query }: NamedQuery,
): Promise<readonly (NamedEntry & NumberedEntry)[]> {
  const names = await keyNames(store);
  const actors = asked === undefined ? [undefined] : actorsOf(asked, names);
  const targets = target === undefined ? [{}] : [{ target }, { partnerId: target }, { customerId: target }];
  const queries = targets.flatMap((about) =>
    actors.flatMap((actor) => actions.map((action) => ({ ...query, ...about, actor, action }))),
  );
  const found = (await Promise.all(queries.map(store.listAudit))).flat();
  const each = new Map(found.map((entry) => [entry.seq, entry])).values();
  const newest = queries.length === 1 ? found : [...each].toSorted(newestFirst).slice(0, query.limit);
  return newest.map(({ seq, at, actor, ...entry }) => {
    const actor_name = names.get(actor);
    return { seq, at, actor, ...(actor_name !== undefined && { actor_name }), ...entry };
  });
}

function newestFirst(one: NumberedEntry, other: NumberedEntry): number {
  return one.at === other.at ? other.seq - one.seq : one.at < other.at ? 1 : -1;
}
