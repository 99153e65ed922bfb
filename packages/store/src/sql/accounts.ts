/** What operators manage, in SQL that both engines understand. Partners and brands are in this file. */
import type { Accounts, Brand, Partner } from '../port.ts';
import { changeRow, changeStatement, createAuditLog } from './audit.ts';
import { createRotation } from './cursor-keys.ts';
import { createGrants } from './grants.ts';
import { apiKeys, createAdminKeys, createExpiry, createKeyChanges, limitsOf } from './keys.ts';
import { createMoves } from './moves.ts';
import type { BoundStatement, Differences, Row, Sql } from './statement.ts';
import { createConditions, insert, records, withoutNulls } from './statement.ts';

const partnerColumns = 'id, name, created_at, disabled_at';
const rates = 'brands_rate, balances_rate';

/** One search of the primary key for each partner: there is no index of ids alone. */
const brandsById = `
  select partner_id, id, name, reference_id, color, profile_image_url, created_at, updated_at
  from brands where partner_id in (select id from partners) and id = $1 order by partner_id`;

const selectPartners = `select ${partnerColumns}, ${rates} from partners`;

export function createManagement(sql: Sql, differences: Differences) {
  return {
    ...createAccounts(sql),
    ...createGrants(sql, differences),
    ...createAdminKeys(sql),
    ...createExpiry(sql),
    ...createMoves(sql),
    ...createAuditLog(sql, differences),
    rotateCursorKey: createRotation(sql, differences),
  };
}

export function createAccounts(sql: Sql): Accounts {
  const { rows, transaction } = sql;
  const keys = createKeyChanges(sql, apiKeys);

  const partners = async (...statement: BoundStatement) => (await rows(...statement)).map(partnerOf);

  return {
    createPartner: (partner, by) =>
      transaction(function* () {
        yield insert('partners', partnerColumns, { ...partner });
        yield changeStatement(by, partner.id, {});
      }),
    findPartner: async (id) => (await partners(`${selectPartners} where id = $1`, id))[0],
    partnerNames: async (ids) => {
      const marks = ids.map((_, index) => `$${index + 1}`).join();
      const found =
        ids.length === 0 ? [] : await partners(`${selectPartners} where id in (${marks})`, ...ids);
      return new Map(found.map(({ id, name }) => [id, name]));
    },
    listPartners: (page) =>
      page === undefined
        ? partners(`${selectPartners} order by id`)
        : partners(`${selectPartners} where id > $1 order by id limit $2`, page.after?.id ?? '', page.limit),
    setPartnerDisabled: (id, at, by) => {
      const other = at === undefined ? 'is not null' : 'is null';
      const text = `update partners set disabled_at = $1 where id = $2 and disabled_at ${other} returning id`;
      return changeRow(sql, [text, at ?? null, id], () => changeStatement(by, id, {}));
    },
    renamePartner: (id, from, to, by) => {
      const text = 'update partners set name = $1 where id = $2 and name = $3 and name <> $1 returning id';
      return changeRow(sql, [text, to, id, from], () => changeStatement(by, id, {}));
    },

    limitPartner: (id, limits, by) =>
      transaction(function* () {
        // Locks the partner without a change, so that the entry has the limits that are replaced.
        const [row] = yield [
          `update partners set brands_rate = brands_rate where id = $1 returning ${rates}`,
          id,
        ];
        if (row === undefined) return false;
        const from = limitsOf(row);
        const { brands = null, balances = null } = { ...from, ...limits };
        if (brands === row.brands_rate && balances === row.balances_rate) return false;
        yield [
          'update partners set brands_rate = $1, balances_rate = $2 where id = $3',
          brands,
          balances,
          id,
        ];
        yield changeStatement(by, id, { from: from ?? {}, to: withoutNulls({ brands, balances }) });
        return true;
      }),

    findBrands: (id) => records<Brand>(rows, brandsById, id),

    createKey: keys.create,
    findKeyById: async (id) => (await keys.select('where id = $1', id))[0],
    listKeys: (partnerId, page) => {
      const { values, add, parameter, text } = createConditions();
      add(partnerId, (value) => `partner_id = ${value}`);
      add(page?.after?.partner_id, (value) => `(partner_id, id) > (${value}, ${parameter(page!.after!.id)})`);
      const end = page === undefined ? '' : `limit ${parameter(page.limit)}`;
      return keys.select(`where ${text()} order by partner_id, id ${end}`, ...values);
    },
    revokeKey: keys.revoke,
    rotateKey: keys.rotate,
  };
}

function partnerOf({ brands_rate, balances_rate, ...row }: Row): Partner {
  return withoutNulls({ ...row, limits: limitsOf({ brands_rate, balances_rate }) }) as Partner;
}
