/** Moves partners and their keys to another database, in SQL that both engines understand. */
import { AlreadyExists, type PartnerWithKeys, type Store } from '../port.ts';
import { insertKey, withoutNulls } from './accounts.ts';
import type { BoundStatement, Row, Sql } from './statement.ts';

/** One statement reads one snapshot, so every key comes with its partner. */
const partnersAndKeys = `
  select p.id as partner_id, p.name as partner_name, p.created_at as partner_created_at, p.disabled_at,
    k.id, k.name, k.digest, k.last_four, k.scopes, k.created_at, k.expires_at, k.revoked_at
  from partners p left join api_keys k on k.partner_id = p.id
  order by p.id, k.id`;

/** Never enables a partner, or extends or restores a key: the file may be older than the database. */
const writePartner = `
  insert into partners (id, name, created_at, disabled_at) values ($1, $2, $3, $4)
  on conflict (id) do update set
    name = excluded.name, disabled_at = coalesce(partners.disabled_at, excluded.disabled_at)`;

const updateKey = `
  on conflict (id) do update set
    name = excluded.name,
    expires_at = case
      when api_keys.expires_at is null or excluded.expires_at < api_keys.expires_at then excluded.expires_at
      else api_keys.expires_at
    end,
    revoked_at = coalesce(api_keys.revoked_at, excluded.revoked_at)
  where api_keys.partner_id = excluded.partner_id and api_keys.digest = excluded.digest`;

export function createMoves({
  rows,
  transaction,
}: Sql): Pick<Store, 'partnersWithKeys' | 'writePartnersWithKeys'> {
  const write = (statements: readonly BoundStatement[]) =>
    transaction(function* () {
      for (const statement of statements) yield statement;
    });

  return {
    partnersWithKeys: async () => {
      const byPartner = Map.groupBy(await rows(partnersAndKeys), (row) => row.partner_id);
      return [...byPartner.values()].map(partnerOf);
    },

    writePartnersWithKeys: async (partners) => {
      refuseTakenKeyIds(await rows('select id, partner_id, digest from api_keys'), partners);
      await write(
        partners.flatMap(({ keys, id, name, created_at, disabled_at }): BoundStatement[] => [
          [writePartner, id, name, created_at, disabled_at ?? null],
          ...keys.map(({ digest, ...key }) => {
            const [insert, ...values] = insertKey({ ...key, partner_id: id }, Buffer.from(digest, 'hex'));
            return [insert + updateKey, ...values] as const;
          }),
        ]),
      );
    },
  };
}

/** A key never changes its partner: its holder would see another partner's records. */
function refuseTakenKeyIds(stored: readonly Row[], partners: readonly PartnerWithKeys[]): void {
  const owners = new Map(stored.map(({ id, partner_id, digest }) => [id, `${partner_id} ${hex(digest)}`]));
  for (const partner of partners) {
    for (const { id, digest } of partner.keys) {
      if (![undefined, `${partner.id} ${digest}`].includes(owners.get(id))) {
        throw new AlreadyExists(`Key id ${id} already belongs to another key.`);
      }
    }
  }
}

function hex(bytes: unknown): string {
  return Buffer.from(bytes as Uint8Array).toString('hex');
}

function partnerOf(rows: readonly Row[]): PartnerWithKeys {
  const { partner_id: id, partner_name: name, partner_created_at: created_at, disabled_at } = rows[0]!;
  const keys = rows.filter((row) => row.id !== null).map(keyOf);
  return withoutNulls({ id, name, created_at, disabled_at, keys }) as PartnerWithKeys;
}

function keyOf({ id, name, last_four, created_at, expires_at, revoked_at, ...row }: Row): object {
  const [digest, scopes] = [hex(row.digest), (row.scopes as string).split(' ')];
  return withoutNulls({ id, name, digest, last_four, scopes, created_at, expires_at, revoked_at });
}
