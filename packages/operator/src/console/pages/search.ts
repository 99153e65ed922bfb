/** Finds what an id belongs to. A POST, because somebody may paste a key, which no address may contain. */
import { isRequestId } from '@partner-network/common/ids';
import { echo, isCleanText, isLongerThan } from '@partner-network/common/text';
import { keyPrefixPattern } from '@partner-network/contract/environments';
import type { Partner } from '@partner-network/store/port';
import { receiptOfRequest } from '../../admin/lists.ts';
import { notFound } from '../../admin/refusals.ts';
import { html } from '../html.ts';
import { isPage, linkTo, pathTo, plural, table, text } from '../parts.ts';
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
  const typed = visit.form.get('id') ?? '';
  // People paste ids with spaces. But an id may begin or end with one, or be nothing else.
  let asked = typed.trim() || typed;
  if (keyLike.test(asked)) {
    const { key } = await visit.call('findKey', { body: { key: asked } });
    return { to: pathTo('keys', key.id) };
  }
  if (asked === '' || !isCleanText(asked)) throw notFound('Write an id, without invisible characters.');
  let found = await hitsOf(visit, typed);
  if (found.exact.length > 0) asked = typed;
  else if (asked !== typed) found = await hitsOf(visit, asked);
  const { exact, named } = found;
  const hits = [...exact, ...named];
  if ((exact.length === 1 || hits.length === 1) && isPage(hits[0]!.path)) return { to: hits[0]!.path };
  // Its page says which log to search.
  if (hits.length === 0 && isRequestId(asked)) return { to: pathTo('requests', asked) };
  const rows = hits.slice(0, mostHits).map(({ kind, label, path }) => [kind, linkTo(path, label)]);
  const cut = html`<p class="hint">The first ${mostHits} of ${plural(hits.length, 'hit')} are shown. A longer
part of a name finds fewer.</p>`;
  const customer = linkTo(pathTo('customers', asked), 'Open it as a customer');
  return {
    title: 'Search',
    body: html`<h1>Search for ${text(echo(asked, 128))}</h1>${hits.length > mostHits && cut}
${table(
  'Hits',
  ['What', 'Name or id'],
  rows,
  html`Nothing has this id or name. Ids must be whole, and case matters. A customer with balances but
without grants and receipts is not found: ${customer}.`,
)}`,
  };
}

/** What has this id, then the other partners whose name contains it. Only grants and brands can be many. */
async function hitsOf(visit: Visit, id: string) {
  const { reads } = visit;
  const at = new Date().toISOString();
  const [partners, key, grants, brands, ofCustomer, receipts, isErased, receipt, changes] = await Promise.all(
    [
      reads.listPartners(),
      reads.findKeyById(id),
      reads.findGrants(id),
      reads.findBrands(id),
      reads.listGrants({ customerId: id, at, limit: 1 }),
      reads.listReceipts({ customerId: id, limit: 1 }),
      reads.isErased(id),
      receiptOfRequest(reads, id),
      changesOf(visit, id),
    ],
  );
  const isCustomer = ofCustomer.length > 0 || receipts.length > 0 || isErased;
  const exact: Hit[] = [
    ...partners.filter((partner) => partner.id === id).map(partnerHit),
    ...(key ? [{ kind: 'Key', label: key.name ?? id, path: pathTo('keys', id) }] : []),
    ...(isCustomer ? [{ kind: 'Customer', label: id, path: pathTo('customers', id) }] : []),
    ...(receipt ? [{ kind: 'Request', label: id, path: pathTo('requests', id) }] : []),
    ...changes,
    ...brands.map(({ partner_id, name }) => ({
      kind: `Brand of ${partner_id}`,
      label: name,
      path: pathTo('brands', partner_id, id),
    })),
    ...grants.map(({ customer_id }) => ({
      kind: 'Grant of customer',
      label: customer_id,
      path: pathTo('customers', customer_id),
    })),
  ];
  const isNamed = ({ name }: Partner) => name.toLowerCase().includes(id.toLowerCase());
  const named = partners.filter((partner) => partner.id !== id && isNamed(partner)).map(partnerHit);
  return { exact, named };
}

/** The changes of an actor, a person or the keys with this name. */
async function changesOf({ call }: Visit, actor: string): Promise<Hit[]> {
  if (actor.trim() === '' || isLongerThan(actor, 256) || !isCleanText(actor)) return [];
  const { entries } = await call('listAudit', { query: { actor, limit: 1 } });
  const path = `/console/audit?${new URLSearchParams({ actor })}`;
  return entries.length > 0 ? [{ kind: 'Changes of', label: actor, path }] : [];
}

function partnerHit({ id, name }: Partner): Hit {
  return { kind: 'Partner', label: name, path: pathTo('partners', id) };
}
