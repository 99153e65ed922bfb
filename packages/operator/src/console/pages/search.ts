/** Finds what an id belongs to. A POST, because somebody may paste a key, which no address may contain. */
import { isRequestId } from '@partner-network/common/ids';
import { echo, isCleanText } from '@partner-network/common/text';
import { keyPrefixPattern } from '@partner-network/contract/environments';
import { receiptOfRequest } from '../../admin/lists.ts';
import { notFound } from '../../admin/refusals.ts';
import { isCustomer, isInAudit, labelOf, meantBy, type Named } from '../filters.ts';
import { type Html, html } from '../html.ts';
import { tokenField } from '../layout.ts';
import { addressOf, isPage, linkTo, pathTo, plural, table, text } from '../parts.ts';
import type { Outcome, Visit } from '../visit.ts';

type Hit = readonly [kind: string, label: string, path: string];

/** A part of a key is as secret as the whole. */
const keyLike = new RegExp(`${keyPrefixPattern}[0-9A-Za-z]`);

/** Hits that are listed. */
const mostHits = 50;

export async function search(visit: Visit): Promise<Outcome> {
  const typed = visit.form.get('id') ?? '';
  // People paste ids with spaces. But an id may begin or end with one, or be nothing else.
  let asked = typed.trim().replace(/^X-Request-Id:\s*/i, '') || typed;
  if (keyLike.test(asked)) {
    const { key } = await visit.call('findKey', { body: { key: asked } });
    return { to: pathTo('keys', key.id) };
  }
  if (asked === '' || !isCleanText(asked)) throw notFound('Write an id, without invisible characters.');
  let exact = await exactHits(visit, typed);
  if (exact.length > 0) asked = typed;
  else if (asked !== typed) exact = await exactHits(visit, asked);
  const { named, isNear } = await namedHits(visit, asked);
  const hits = [...exact, ...(isNear && exact.length > 0 ? [] : named)];
  const [only] = exact.length === 1 || (hits.length === 1 && !isNear) ? hits : [];
  if (only !== undefined && isPage(only[2])) return { to: only[2] };
  // Its page says which log to search.
  if (exact.length === 0 && isRequestId(asked)) return { to: pathTo('requests', asked) };
  const from = Number(visit.form.get('from')) || 0;
  const shown = hits.slice(from, from + mostHits);
  const rows = shown.map(([kind, label, path]) => [kind, linkTo(path, label)]);
  const customer = linkTo(pathTo('customers', asked), 'Open it as a customer');
  return {
    title: 'Search',
    body: html`<h1>Search for ${text(echo(asked, 128))}</h1>
${
  hits.length > mostHits &&
  html`<p class="hint">${from + 1} to ${from + shown.length} of ${plural(hits.length, 'hit')} are shown.
A longer part of a name finds fewer.</p>`
}
${isNear && exact.length === 0 && hits.length > 0 && html`<p>Nothing has this id or name. Similar:</p>`}
${table(
  'Hits',
  ['What', 'Name or id'],
  rows,
  html`Nothing has this id or name. Ids must be whole, and case matters. A customer with balances but
without grants and receipts is not found: ${customer}.`,
)}
<div class="actions">${from > 0 && pageButton(visit, typed, 0, 'First hits')}
${from + mostHits < hits.length && pageButton(visit, typed, from + mostHits, 'Next hits')}</div>`,
  };
}

/** A form, because what was typed must not be in an address. */
const pageButton = ({ session }: Visit, typed: string, from: number, label: string): Html =>
  html`<form method="post" action="/console/search">${tokenField(session)}<input type="hidden" name="id"
value="${typed}"><input type="hidden" name="from" value="${from}"><button>${label}</button></form>`;

/** What has this id. */
async function exactHits(visit: Visit, id: string): Promise<Hit[]> {
  const { reads } = visit;
  const [partner, key, grants, brands, isOfCustomer, receipt, hasChanged] = await Promise.all([
    reads.findPartner(id),
    reads.findKeyById(id),
    reads.findGrants(id),
    reads.findBrands(id),
    isCustomer(reads, id),
    receiptOfRequest(reads, id),
    isInAudit(visit, 'actor', id),
  ]);
  const hits = [
    partner && hitOf('Partner', partner),
    key && hitOf('Key', key),
    isOfCustomer && hit('Customer', id, pathTo('customers', id)),
    receipt && hit('Request', id, pathTo('requests', id)),
    hasChanged && hit('Changes of', id, addressOf('/console/audit', { actor: id })),
    ...brands.map((own) => hit(`Brand of ${own.partner_id}`, own.name, pathTo('brands', own.partner_id, id))),
    ...grants.map((own) => hit('Grant of customer', own.customer_id, pathTo('customers', own.customer_id))),
  ];
  return hits.filter((found) => found !== undefined && found !== false);
}

/** The other partners and keys that may be meant. Those with this very name come first. */
async function namedHits({ reads }: Visit, asked: string): Promise<{ named: Hit[]; isNear?: boolean }> {
  const partners: readonly Named[] = await reads.listPartners();
  const all = [...partners, ...(await reads.listKeys(undefined))];
  const { called, similar, ...how } = meantBy(asked, all);
  const others = [...new Set([...called, ...similar])].filter(({ id }) => id !== asked);
  return { named: others.map((each) => hitOf('partner_id' in each ? 'Key' : 'Partner', each)), ...how };
}

const hit = (...parts: Hit): Hit => parts;

const hitOf = (kind: 'Partner' | 'Key', named: Named): Hit =>
  hit(kind, labelOf(named), pathTo(`${kind.toLowerCase()}s`, named.id));
