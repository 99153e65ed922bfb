/** Reads the audit log with the names of keys, which people know better than ids. */
import {
  AccessDenied,
  type AdminKey,
  type AuditEntry,
  type AuditQuery,
  type NumberedEntry,
  type Store,
} from '@partner-network/store/port';

/** An entry, with the name of the key if a key made the change. */
export type NamedEntry = AuditEntry & { readonly actor_name?: string };

const actorOf = ({ id }: AdminKey) => `admin-key:${id}`;

/** All keys. Empty for a login that may read only the audit log. */
async function keysOf({ listAdminKeys }: Pick<Store, 'listAdminKeys'>): Promise<readonly AdminKey[]> {
  return listAdminKeys().catch((error) => {
    if (error instanceof AccessDenied) return [];
    throw error;
  });
}

/** The actors that a text means: an actor, an account of a person, or the name of administrative keys. */
export async function actorsOf(store: Pick<Store, 'listAdminKeys'>, text: string): Promise<string[]> {
  const named = (await keysOf(store)).filter(({ name }) => name === text);
  return [text, `person:${text}`, ...named.map(actorOf)];
}

interface NamedQuery extends Omit<AuditQuery, 'actor' | 'action'> {
  /** As somebody writes it. */
  readonly actor: string | undefined;
  readonly actions: readonly (string | undefined)[];
}

/** A page of the log, newest first. Each actor and each action has its own place in an index. */
export async function listNamedAudit(
  store: Pick<Store, 'listAdminKeys' | 'listAudit'>,
  { actor: asked, actions, ...query }: NamedQuery,
): Promise<readonly (NamedEntry & NumberedEntry)[]> {
  const actors = asked === undefined ? [undefined] : await actorsOf(store, asked);
  const queries = actors.flatMap((actor) => actions.map((action) => ({ ...query, actor, action })));
  const found = (await Promise.all(queries.map(store.listAudit))).flat();
  const newest = queries.length === 1 ? found : found.toSorted(newestFirst).slice(0, query.limit);
  const names = new Map((await keysOf(store)).map((key) => [actorOf(key), key.name]));
  return newest.map(({ seq, at, actor, ...entry }) => {
    const actor_name = names.get(actor);
    return { seq, at, actor, ...(actor_name !== undefined && { actor_name }), ...entry };
  });
}

function newestFirst(one: NumberedEntry, other: NumberedEntry): number {
  return one.at === other.at ? other.seq - one.seq : one.at < other.at ? 1 : -1;
}
