/** Partners and their keys on the way from one database to another, in SQL that every engine reads. */
import type { Scope } from '@partner-network/contract/scopes';
import type { Row, Sql } from './accounts.ts';
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
const writeKey = `
  insert into api_keys (id, partner_id, name, digest, last_four, scopes, created_at, expires_at, revoked_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
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

    writePartnersWithKeys: async (partners) => {
      const statements = partners.flatMap(({ keys, id, name, created_at, disabled_at }) => [
        [writePartner, id, name, created_at, disabled_at ?? null] as const,
        ...keys.map(
          (key) =>
            [
              writeKey,
              ...[key.id, id, key.name ?? null, Buffer.from(key.digest, 'hex'), key.last_four],
              ...[key.scopes.toSorted().join(' '), key.created_at],
              ...[key.expires_at ?? null, key.revoked_at ?? null],
            ] as const,
        ),
      ]);
      await write(...statements);
    },
  };
}

function partnerOf(rows: readonly Row[]): PartnerWithKeys {
  const { partner_id, partner_name, partner_created_at, disabled_at } = rows[0] as Row;
  return {
    id: partner_id as string,
    name: partner_name as string,
    created_at: partner_created_at as string,
    ...(disabled_at !== null && { disabled_at: disabled_at as string }),
    keys: rows.filter(({ id }) => id !== null).map(keyOf),
  };
}

function keyOf(row: Row): PartnerWithKeys['keys'][number] {
  return {
    id: row.id as string,
    ...(row.name !== null && { name: row.name as string }),
    digest: Buffer.from(row.digest as Uint8Array).toString('hex'),
    last_four: row.last_four as string,
    scopes: (row.scopes as string).split(' ') as Scope[],
    created_at: row.created_at as string,
    ...(row.expires_at !== null && { expires_at: row.expires_at as string }),
    ...(row.revoked_at !== null && { revoked_at: row.revoked_at as string }),
  };
}
