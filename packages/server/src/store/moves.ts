/** Partners and their keys on the way from one database to another, in SQL that every engine reads. */
import { insertKey, type Row, type Sql, type Statement, withoutNulls } from './accounts.ts';
import type { Moves, PartnerWithKeys } from './port.ts';

/** One statement, so that it sees one moment: no key without its partner. */
const partnersAndKeys = `
  select p.id as partner_id, p.name as partner_name, p.created_at as partner_created_at, p.disabled_at,
    k.id, k.name, k.digest, k.last_four, k.scopes, k.created_at, k.expires_at, k.revoked_at
  from partners p left join api_keys k on k.partner_id = p.id
  order by p.id, k.id`;

const writePartner = `
  insert into partners (id, name, created_at, disabled_at) values ($1, $2, $3, $4)
  on conflict (id) do update set name = excluded.name, disabled_at = excluded.disabled_at`;

/** A revocation is for good: an older file does not bring a key back. */
const replaceKey = `
  on conflict (id) do update set
    partner_id = excluded.partner_id, name = excluded.name, digest = excluded.digest,
    last_four = excluded.last_four, scopes = excluded.scopes, expires_at = excluded.expires_at,
    revoked_at = coalesce(api_keys.revoked_at, excluded.revoked_at)`;

export function createMoves({ rows, write }: Sql): Moves {
  return {
    partnersWithKeys: async () => {
      const byPartner = Map.groupBy(await rows(partnersAndKeys), (row) => row.partner_id);
      return [...byPartner.values()].map(partnerOf);
    },

    writePartnersWithKeys: (partners) =>
      write(
        ...partners.flatMap(({ keys, id, name, created_at, disabled_at }): Statement[] => [
          [writePartner, id, name, created_at, disabled_at ?? null],
          ...keys.map(({ digest, ...key }) => {
            const [insert, ...values] = insertKey({ ...key, partner_id: id }, Buffer.from(digest, 'hex'));
            return [insert + replaceKey, ...values] as const;
          }),
        ]),
      ),
  };
}

function partnerOf(rows: readonly Row[]): PartnerWithKeys {
  const { partner_id: id, partner_name: name, partner_created_at: created_at, disabled_at } = rows[0]!;
  const keys = rows.filter((row) => row.id !== null).map(keyOf);
  return withoutNulls({ id, name, created_at, disabled_at, keys }) as PartnerWithKeys;
}

function keyOf({ id, name, digest, last_four, scopes, created_at, expires_at, revoked_at }: Row): object {
  return withoutNulls({
    ...{ id, name, digest: Buffer.from(digest as Uint8Array).toString('hex'), last_four },
    ...{ scopes: (scopes as string).split(' '), created_at, expires_at, revoked_at },
  });
}
