/** Finds what an id belongs to. A POST, because somebody may paste a key, which no address may contain. */
import { isRequestId } from '@partner-network/common/ids';
import { echo, isCleanText } from '@partner-network/common/text';
import { keyPrefixPattern } from '@partner-network/contract/environments';
import { receiptOfRequest } from '../../admin/lists.ts';
import { notFound } from '../../admin/refusals.ts';
import { html } from '../html.ts';
import { linkTo, pathTo, table, text } from '../parts.ts';
import type { Outcome, Visit } from '../visit.ts';

interface Hit {
  readonly kind: string;
  readonly label: string;
  readonly path: string;
}

/** A part of a key is as secret as the whole. */
const keyLike = new RegExp(`${keyPrefixPattern}[0-9A-Za-z]`);

/** Hits that are listed. */
const mostHits = 50;

export async function search(visit: Visit): Promise<Outcome> {
  const asked = visit.form.get('id')?.trim() ?? '';
  if (keyLike.test(asked)) {
    const { key } = await visit.call('findKey', { body: { key: asked } });
    return { to: pathTo('keys', key.id) };
  }
  if (asked === '' || !isCleanText(asked)) throw notFound('Write an id, without invisible characters.');
  const hits = await hitsOf(visit, asked);
  if (hits.length === 1) return { to: hits[0]!.path };
  // Its page says which log to search.
  if (hits.length === 0 && isRequestId(asked)) return { to: pathTo('requests', asked) };
  const rows = hits.slice(0, mostHits).map(({ kind, label, path }) => [kind, linkTo(path, label)]);
  const customer = linkTo(pathTo('customers', asked), 'Open it as a customer');
  return {
    title: 'Search',
    body: html`<h1>Search for ${text(echo(asked, 128))}</h1>
${table(
  'Hits',
  ['What', 'Name or id'],
  rows,
  html`Nothing has this id or name. Ids must be whole, and case matters. A customer with balances but
without grants and receipts is not found: ${customer}.`,
)}`,
  };
}

async function hitsOf({ store }: Visit, id: string): Promise<Hit[]> {
  const at = new Date().toISOString();
  const [partners, key, grants, brands, ofCustomer, receipts, isErased, receipt] = await Promise.all([
    store.listPartners(),
    store.findKeyById(id),
    store.findGrants(id),
    store.findBrands(id),
    store.listGrants({ customerId: id, at, limit: 1 }),
    store.listReceipts({ customerId: id, limit: 1 }),
    store.isErased(id),
    receiptOfRequest(store, id),
  ]);
  const isCustomer = ofCustomer.length > 0 || receipts.length > 0 || isErased;
  const exact = partners.filter((partner) => partner.id === id);
  const named = partners.filter(({ name }) => name.toLowerCase().includes(id.toLowerCase()));
  return [
    ...(exact.length > 0 ? exact : named).map((partner) => ({
      kind: 'Partner',
      label: partner.name,
      path: pathTo('partners', partner.id),
    })),
    ...(key ? [{ kind: 'Key', label: key.name ?? id, path: pathTo('keys', id) }] : []),
    ...(isCustomer ? [{ kind: 'Customer', label: id, path: pathTo('customers', id) }] : []),
    ...grants.map(({ customer_id }) => ({
      kind: 'Grant of customer',
      label: customer_id,
      path: pathTo('customers', customer_id),
    })),
    ...brands.map(({ partner_id, name }) => ({
      kind: `Brand of ${partner_id}`,
      label: name,
      path: pathTo('brands', partner_id, id),
    })),
    ...(receipt ? [{ kind: 'Request', label: id, path: pathTo('requests', id) }] : []),
  ];
}
