/** What a partner or a key was answered: charts, and why it was refused. */
import { type ErrorCode, errorCatalogue } from '@partner-network/contract/errors';
import type { UsageCount } from '@partner-network/store/port';
import { chart, rankedCodes, type Span, spanOf } from './chart.ts';
import { type Html, html, type Value } from './html.ts';
import { code, idLink, linkTo, pathTo, plural, table } from './parts.ts';
import type { Visit } from './visit.ts';

/** Counts that are read for a chart. */
const mostCounts = 10_000;

type Owner = { readonly partner_id: string; readonly key_id?: string };

/** The charts of a day and a month, and the refusals of the day. */
export async function usageOf({ call }: Visit, owner: Owner) {
  const nowMs = Date.now();
  // A clock that was ahead may have left counts in the future. The hour and the day of `until` are read.
  const until = new Date(nowMs + 1).toISOString();
  const countsOf = ({ unit, starts }: Span) =>
    call('listUsage', { query: { ...owner, by: unit, since: starts[0], until, limit: mostCounts } });
  const day = spanOf('Last 24 hours', 'hour', 24, nowMs);
  const month = spanOf('Last 30 days', 'day', 30, nowMs);
  const { usage: hours, cursor: moreHours } = await countsOf(day);
  const { usage: days, cursor: moreDays } = await countsOf(month);
  const ranked = [...new Set([...rankedCodes(hours), ...rankedCodes(days)])];
  const isCut = moreHours !== undefined || moreDays !== undefined;
  const cut = isCut && html`<p class="hint">Only the newest ${plural(mostCounts, 'count')} are shown.</p>`;
  return {
    charts: html`<div class="charts">${chart(day, hours, ranked)}${chart(month, days, ranked)}</div>${cut}`,
    refusals: html`${refusalsOf(owner, hours, day.starts.at(-2)!, new Date(nowMs).toISOString())}
<p>${receiptsLink(owner, {}, `All receipts of this ${owner.key_id === undefined ? 'partner' : 'key'}`)}</p>`,
  };
}

interface Refused {
  readonly code: string;
  readonly keyId: string;
  readonly operation: string;
  recent: number;
  all: number;
}

/** What the operations list. */
const listed: Readonly<Record<string, string>> = { listBrands: 'brands', listBalances: 'balances' };

/** Refusals by code, key and listing, those of this hour and the previous one first. */
function refusalsOf(owner: Owner, hours: readonly UsageCount[], recentFrom: string, now: string): Html {
  const found = new Map<string, Refused>();
  for (const { from, key_id: keyId, operation, code, count } of hours) {
    if (code === 'OK') continue;
    const name = JSON.stringify([code, keyId, operation]);
    const refused = found.get(name) ?? { code, keyId, operation, recent: 0, all: 0 };
    found.set(name, refused);
    refused.all += count;
    if (from >= recentFrom) refused.recent += count;
  }
  const sorted = [...found.values()].toSorted(
    (one, other) => other.recent - one.recent || other.all - one.all,
  );
  const rows = sorted.map((refused) => [
    code(refused.code),
    meaningOf(refused.code),
    listed[refused.operation] ?? refused.operation,
    ...(owner.key_id === undefined ? [idLink('keys', refused.keyId)] : []),
    html`<b>${refused.recent.toLocaleString('en')}</b>`,
    refused.all.toLocaleString('en'),
    refused.operation === 'listBalances'
      ? receiptsLink(owner, { key_id: refused.keyId, outcome: refused.code }, 'Receipts')
      : 'in the log',
  ]);
  const since = `Since ${recentFrom.slice(11, 16)} UTC`;
  const key = owner.key_id === undefined ? ['Key'] : [];
  const hint = html`<p class="hint">It is ${now.slice(11, 16)} UTC now. Requests for balances leave receipts.
For others, search the log of <code>partner-network serve</code> for the id of the key.</p>`;
  const counted = table(
    'Refusals',
    ['Code', 'What it means', 'Asked for', ...key, since, '24 hours', 'Requests'],
    rows,
    html`Nothing was refused in the last 24 hours. A request with an unknown key belongs to nobody, and is
not counted here: search the log of <code>partner-network serve</code> for UNAUTHORIZED.`,
  );
  return html`${rows.length > 0 && hint}${counted}`;
}

function receiptsLink(owner: Owner, filters: Record<string, string>, label: string): Html {
  return linkTo(`${pathTo('receipts')}?${new URLSearchParams({ ...owner, ...filters })}`, label);
}

/** The status and the meaning of a code or an outcome. Older versions may have had others. */
export function meaningOf(outcome: string): Value {
  if (outcome === 'GRANTED') return 'The partner got the balances.';
  const known = errorCatalogue[outcome as ErrorCode];
  return known === undefined ? '–' : html`<span class="role">${known.status}</span> ${known.when}`;
}
