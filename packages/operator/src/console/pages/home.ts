/** The first page: what needs a person, and what each partner was answered. */
import { adminBounds } from '@partner-network/common/bounds/operator';
import { toTime } from '@partner-network/common/times';
import { listings } from '@partner-network/contract/operations';
import { type AuditAction, auditActions, type Partner } from '@partner-network/store/port';
import { type Counted, type PartnerTotals, unused } from '../counted.ts';
import { type Html, html, type Value } from '../html.ts';
import type { Page } from '../layout.ts';
import {
  choices,
  code,
  idLink,
  linkTo,
  mark,
  pageNumber,
  pager,
  pathTo,
  plural,
  table,
  time,
} from '../parts.ts';
import { sparkline } from '../usage.ts';
import type { Visit } from '../visit.ts';
import { auditTable } from './sentences.ts';
import { linesOf, stoppedOf } from './sources.ts';

/** Changes that people make. */
const changes = (Object.keys(auditActions) as AuditAction[]).filter((action) => auditActions[action]);

export async function startPage(visit: Visit): Promise<Page> {
  const { call, reads, query } = visit;
  // First, because they go on while the rest is read.
  const [counting, examining] = [reads.counted(), reads.examined()];
  const partners = await reads.listPartners();
  const { entries } = await call('listAudit', { query: { action: changes, limit: 5 } });
  const counted = await counting;
  const checks = await examining;
  const needed = await needsOf(visit, partners, counted, checks);
  const isKnown = counted !== undefined && checks !== undefined;
  const nothing = html`Nothing. No disabled partner asks, no key expires in 14 days, no feed stopped, and
<code>doctor</code> finds nothing.`;
  const list = html`<ul>${needed.map((need) => html`<li>${need}</li>\n`)}</ul>`;
  return {
    title: 'Home',
    place: '',
    body: html`<h1>Home</h1>
<h2>What needs a person</h2>
${needed.length > 0 && html`<div class="effects">${list}</div>`}
${needed.length === 0 && isKnown && html`<p class="empty">${nothing}</p>`}
${!isKnown && html`<p class="hint">Still being counted. <a href="/console">Load the page again</a>.</p>`}
<h2>Partners</h2>
${partnerList(query, partners, counted)}
<h2>Last changes</h2>
${await auditTable(visit, entries, 'Nobody has changed a partner, a key, a grant or a customer yet.')}`,
  };
}

/** Lines of a kind that are listed. */
const mostNeeds = 10;

async function needsOf(
  visit: Visit,
  partners: readonly Partner[],
  counted: Counted | undefined,
  checks: Awaited<ReturnType<Visit['reads']['examined']>> = [],
): Promise<Html[]> {
  const nowMs = Date.now();
  const until = toTime(nowMs + adminBounds.expiryShownMs);
  const disabled = partners.flatMap(({ id, name, disabled_at }) => {
    const { disabled } = counted?.partners.get(id) ?? unused;
    if (disabled_at === undefined || disabled === 0) return [];
    const partner = linkTo(pathTo('partners', id), name);
    return html`${partner} is disabled: refused ${plural(disabled, 'time')} in 24 hours.`;
  });
  const keys = (await visit.reads.expiringKeys(toTime(nowMs), until)).filter(({ isReplaced }) => !isReplaced);
  const kinds = ['brands', 'balances', 'grants'] as const;
  const lines = (await Promise.all(kinds.map((kind) => linesOf(visit, kind)))).flat();
  const found = checks.filter(({ status }) => status === 'failed' || status === 'warning');
  const bounded = (needs: Html[], path: Html) =>
    needs.length <= mostNeeds ? needs : [...needs.slice(0, mostNeeds), html`And more: ${path}.`];
  return [
    ...(found.length === 0
      ? []
      : [
          html`<code>doctor</code> finds ${found.map(
            ({ name, status }) => html`${mark(status)} ${name.replace('_', ' ')}, `,
          )}and ${linkTo('/console/health', 'Health')} says what to do.`,
        ]),
    ...bounded(disabled, html`sort the partners by refusals`),
    ...bounded(
      keys.map(({ id, partner_id, expires_at }) => {
        const whose = idLink('partners', partner_id);
        return html`The key ${idLink('keys', id)} of ${whose} expires (UTC): ${time(expires_at)}.`;
      }),
      html`<code>partner-network doctor</code> lists them`,
    ),
    ...stoppedOf(lines, nowMs).map((said) => html`${said} ${linkTo('/console/data', 'Data')}`),
  ];
}

const percentOf = ({ answers, refused }: PartnerTotals) =>
  answers === 0 ? 0 : Math.round((refused / answers) * 1_000) / 10;

type Row = readonly [partner: Partner, totals: PartnerTotals];

/** What partners are sorted by: the column, what is compared, and the order. */
const sorts: Readonly<
  Record<string, readonly [column: string, of: (row: Row) => number | string, isRising?: boolean]>
> = {
  name: ['Partner', ([{ name }]) => name.toLowerCase(), true],
  answers: ['Answers', ([, { answers }]) => answers],
  refused: ['Refused, %', ([, totals]) => percentOf(totals)],
  limited: ['Over the limit (429)', ([, { limited }]) => limited],
  peak: ['Peak a second', ([, { brands, balances }]) => Math.max(brands, balances)],
  used: ['Last accepted use (UTC)', ([, { used }]) => used],
};
const defaults = listings
  .map(({ name, defaultRate }) => `${defaultRate === 0 ? 'no limit' : defaultRate} for ${name}`)
  .join(' and ');
const pageSize = 50;

function partnerList(
  query: Visit['query'],
  partners: readonly Partner[],
  counted: Counted | undefined,
): Html {
  const known = Object.hasOwn(sorts, query.sort ?? '') ? query.sort! : 'answers';
  const sort = counted === undefined ? 'name' : known;
  const [column, of, isRising] = sorts[sort]!;
  const order = isRising ? 1 : -1;
  const rows = partners.map((partner): Row => [partner, counted?.partners.get(partner.id) ?? unused]);
  rows.sort((one, other) => (of(one) === of(other) ? 0 : of(one) > of(other) ? order : -order));
  const page = pageNumber(query.page);
  const shown = rows.slice((page - 1) * pageSize, page * pageSize);
  const empty = html`No partner yet. Create one with
<code>partner-network partners create --id PARTNER_ACME --name Acme</code>.`;
  const about = html`<p class="hint">${plural(partners.length, 'partner')}. Answers of 24 hours,
counted at ${counted?.at.slice(11, 16)} UTC. Peak: the number of requests that were
admitted in the busiest second, of the limit. The default is ${defaults}, unless
operators started <code>serve</code> with another. Not measured: no request was answered. A use is accepted if
the key was valid.</p>`;
  return html`${counted !== undefined && about}
${choices('/console', {}, 'sort', sorts, sort)}
${table(
  'Partners',
  Object.values(sorts)
    .map(([label]) => label)
    .toSpliced(1, 0, 'The day'),
  shown.map((row) => cellsOf(row, counted)),
  page === 1 ? empty : 'No partner on this page.',
  [column, isRising ? 'ascending' : 'descending'],
)}
${pager('/console', query, 'page', rows.length > page * pageSize ? String(page + 1) : undefined)}`;
}

function cellsOf(
  [{ id, name, disabled_at, limits = {} }, totals]: Row,
  counted: Counted | undefined,
): Value[] {
  const partner = html`${linkTo(pathTo('partners', id), name)} ${code(id)}${disabled_at && mark('disabled')}`;
  if (counted === undefined) return [partner, ...Object.keys(sorts).map(() => '–')];
  const peaks = listings.flatMap(({ name: listing }) =>
    totals[listing] === 0
      ? []
      : html`${listing} ${totals[listing]} ${limits[listing] ? `of ${limits[listing]}` : '(default)'}<br>`,
  );
  const { answers, limited, used } = totals;
  const chart = answers === 0 ? '' : sparkline(counted.starts, totals.hours);
  return [
    partner,
    chart,
    answers,
    percentOf(totals),
    limited,
    peaks.length > 0 ? peaks : answers === 0 ? '–' : 'not measured',
    time(used || undefined, 'never'),
  ];
}
