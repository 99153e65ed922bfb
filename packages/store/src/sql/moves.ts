/** Moves partners and their keys to another database, in SQL that both engines understand. */
import { AlreadyExists, type Author, type MoveCounts, type PartnerWithKeys, type Store } from '../port.ts';
import { changeStatement } from './audit.ts';
import { apiKeys, insertKey, limitsOf } from './keys.ts';
import { type BoundStatement, type Row, type Sql, withoutNulls } from './statement.ts';

/** One statement reads one snapshot, so every key comes with its partner. */
const partnersAndKeys = `
  select p.id as partner_id, p.name as partner_name, p.created_at as partner_created_at, p.disabled_at,
    p.brands_rate, p.balances_rate, k.id, k.name, k.digest, k.last_four, k.scopes, k.created_at,
    k.created_by, k.expires_at, k.revoked_at
  from partners p left join api_keys k on k.partner_id = p.id
  order by p.id, k.id`;

/**
 * Never enables a partner, changes its limits, or extends or restores a key: the file may be older than the
 * database.
 */
const writePartner = `
  insert into partners (id, name, created_at, disabled_at, brands_rate, balances_rate)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (id) do update set
    name = excluded.name, disabled_at = coalesce(partners.disabled_at, excluded.disabled_at)
  where partners.name <> excluded.name or (partners.disabled_at is null and excluded.disabled_at is not null)
  returning id`;

/** The columns of a stored key that change. Not an upsert: SQLite would run the triggers of an insert. */
const mergedKey = {
  name: '$2',
  created_by: 'coalesce(created_by, $3)',
  expires_at: 'case when expires_at is null or $4 < expires_at then $4 else expires_at end',
  revoked_at: 'coalesce(revoked_at, $5)',
};

const updateKey = `
  update api_keys set ${Object.entries(mergedKey).map(([column, value]) => `${column} = ${value}`)}
  where id = $1 and (${Object.keys(mergedKey)}) is distinct from (${Object.values(mergedKey)})
  returning id`;

export function createMoves({
  rows,
  transaction,
}: Sql): Pick<Store, 'partnersWithKeys' | 'writePartnersWithKeys'> {
  return {
    partnersWithKeys: async () => {
      const byPartner = Map.groupBy(await rows(partnersAndKeys), (row) => row.partner_id);
      return [...byPartner.values()].map(partnerOf);
    },

    writePartnersWithKeys: (partners, by, mode) => transaction(() => writing(partners, by), mode),
  };
}

function* writing(
  partners: readonly PartnerWithKeys[],
  by: Author,
): Generator<BoundStatement, MoveCounts, readonly Row[]> {
  const stored = yield ['select id from partners'];
  const storedKeys = yield ['select id, partner_id, digest from api_keys'];
  refuseTakenKeyIds(storedKeys, partners);
  const known = {
    partners: new Set(stored.map(({ id }) => id)),
    keys: new Set(storedKeys.map(({ id }) => id)),
  };
  const none = () => ({ partners: 0, keys: 0 });
  const counts = { created: none(), changed: none(), unchanged: none() };
  const count = (kind: 'partners' | 'keys', id: string, written: readonly Row[]) => {
    const outcome = written.length === 0 ? 'unchanged' : known[kind].has(id) ? 'changed' : 'created';
    counts[outcome][kind] += 1;
    known[kind].add(id);
  };
  for (const { keys, id, name, created_at, disabled_at = null, limits = {} } of partners) {
    const { brands = null, balances = null } = limits;
    count('partners', id, yield [writePartner, id, name, created_at, disabled_at, brands, balances]);
    for (const { digest, ...key } of keys) {
      const { name = null, created_by = null, expires_at = null, revoked_at = null } = key;
      const [text, ...values] = insertKey(apiKeys, { ...key, partner_id: id }, Buffer.from(digest, 'hex'));
      const statement: BoundStatement = known.keys.has(key.id)
        ? [updateKey, key.id, name, created_by, expires_at, revoked_at]
        : [`${text} returning id`, ...values];
      count('keys', key.id, yield statement);
    }
  }
  const { created, changed } = counts;
  const changes = created.partners + created.keys + changed.partners + changed.keys;
  if (changes > 0) yield changeStatement(by, 'partners', { created, changed });
  const keys = new Map((yield ['select id, scopes, expires_at from api_keys']).map((row) => [row.id, row]));
  const isApplied = ({ id, scopes, expires_at }: PartnerWithKeys['keys'][number]) =>
    keys.get(id)?.scopes === scopes.toSorted().join(' ') &&
    (keys.get(id)?.expires_at ?? undefined) === expires_at;
  const kept = partners.flatMap((partner) => partner.keys.filter((key) => !isApplied(key)));
  return { ...counts, not_applied: kept.map(({ id }) => id) };
}

/** A key never changes its partner: its holder would see another partner's records. */
function refuseTakenKeyIds(stored: readonly Row[], partners: readonly PartnerWithKeys[]): void {
  const owners = new Map<unknown, string>(
    stored.map(({ id, partner_id, digest }) => [id, `${partner_id} ${hex(digest)}`]),
  );
  for (const partner of partners) {
    for (const { id, digest } of partner.keys) {
      const owner = `${partner.id} ${digest}`;
      if (![undefined, owner].includes(owners.get(id))) {
        throw new AlreadyExists(`Key id ${id} already belongs to another key.`);
      }
      // The same file may have the id again.
      owners.set(id, owner);
    }
  }
}

function hex(bytes: unknown): string {
  return Buffer.from(bytes as Uint8Array).toString('hex');
}

function partnerOf(rows: readonly Row[]): PartnerWithKeys {
  const { partner_id: id, partner_name: name, partner_created_at: created_at, disabled_at } = rows[0]!;
  const keys = rows.filter((row) => row.id !== null).map(keyOf);
  const limits = limitsOf(rows[0]!);
  return withoutNulls({ id, name, created_at, disabled_at, limits, keys }) as PartnerWithKeys;
}

function keyOf({ id, name, last_four, created_at, created_by, expires_at, revoked_at, ...row }: Row): object {
  const digest = hex(row.digest);
  const scopes = (row.scopes as string).split(' ');
  const times = { created_at, created_by, expires_at, revoked_at };
  return withoutNulls({ id, name, digest, last_four, scopes, ...times });
}
