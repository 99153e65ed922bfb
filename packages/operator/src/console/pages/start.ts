/** The start: all partners. The search is on every page. */
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { code, linkTo, mark, pager, pathTo, table, time } from '../parts.ts';
import type { Visit } from '../visit.ts';

export async function startPage({ call, query }: Visit): Promise<Page> {
  const { partners, cursor } = await call('listPartners', {
    query: { cursor: query.cursor, limit: 50 },
  });
  const rows = partners.map(({ id, name, created_at, disabled_at }) => [
    linkTo(pathTo('partners', id), name),
    code(id),
    mark(disabled_at === undefined ? 'enabled' : 'disabled'),
    time(created_at),
  ]);
  const empty = html`No partner yet. Create one with
<code>partner-network partners create --id PARTNER_ACME --name Acme</code>.`;
  return {
    title: 'Partners',
    place: '',
    body: html`<h1>Partners</h1>
<p class="hint">Open a partner to see why it was refused. The field above takes a part of its name, or any id:
of a partner, key, customer, grant, brand or request.</p>
${table('Partners', ['Name', 'Id', 'State', 'Created (UTC)'], rows, empty)}
${pager('/console', query, 'cursor', cursor)}`,
  };
}
