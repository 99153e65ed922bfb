/** What a partner or a key was answered: charts, and why it was refused. */
import { type ErrorCode, errorCatalogue } from '@partner-network/contract/errors';
import type { UsageCount } from '@partner-network/store/port';
import { chart, rankedCodes, type Span, spanOf } from './chart.ts';
import { type Html, html, type Value } from './html.ts';
import { code, idLink, linkTo, pathTo, plural, table } from './parts.ts';
import type { Visit } from './visit.ts';

/** Counts that are read for a chart. */
const mostCounts = 10_000;

interface Owner {
  readonly partnerId: string;
  readonly keyId?: string;
}

/** The charts of a day and a month, and the refusals of the day. */
export async function usageOf({ store }: Visit, owner: Owner) {
  const countsOf = ({ unit, starts }: Span) =>
    store.listUsage({ ...owner, by: unit, since: starts[0], limit: mostCounts });
  const nowMs = Date.now();
  const day = spanOf('Last 24 hours', 'hour', 24, nowMs);
  const month = spanOf('Last 30 days', 'day', 30, nowMs);
  const [hours, days] = [await countsOf(day), await countsOf(month)];
  const ranked = [...new Set([...rankedCodes(hours), ...rankedCodes(days)])];
  const isCut = Math.max(hours.length, days.length) === mostCounts;
  const cut = isCut && html`<p class="hint">Only the newest ${plural(mostCounts, 'count')} are shown.</p>`;
  return {
    charts: html`<div class="charts">${chart(day, hours, ranked)}${chart(month, days, ranked)}</div>${cut}`,
    refusals: refusalsOf(owner, hours, day.starts.at(-2)!),
  };
}

interface Refused {
  readonly code: string;
  readonly keyId: string;
  /** Whether some of the requests were for balances: only they leave receipts. */
  hasReceipts: boolean;
  recent: number;
  all: number;
}

/** Refusals by code and key, those of this hour and the previous one first. */
function refusalsOf(owner: Owner, hours: readonly UsageCount[], recentFrom: string): Html {
  const found = new Map<string, Refused>();
  for (const { from, key_id: keyId, operation, code, count } of hours) {
    if (code === 'OK') continue;
    const name = JSON.stringify([code, keyId]);
    const refused = found.get(name) ?? { code, keyId, hasReceipts: false, recent: 0, all: 0 };
    found.set(name, refused);
    refused.all += count;
    refused.hasReceipts ||= operation === 'listBalances';
    if (from >= recentFrom) refused.recent += count;
  }
  const sorted = [...found.values()].toSorted(
    (one, other) => other.recent - one.recent || other.all - one.all,
  );
  const rows = sorted.map((refused) => [
    code(refused.code),
    meaningOf(refused.code),
    ...(owner.keyId === undefined ? [idLink('keys', refused.keyId)] : []),
    html`<b>${refused.recent.toLocaleString('en')}</b>`,
    refused.all.toLocaleString('en'),
    refused.hasReceipts ? receiptsLink(owner, refused) : '–',
  ]);
  const since = `Since ${recentFrom.slice(11, 16)} UTC`;
  const key = owner.keyId === undefined ? ['Key'] : [];
  return table(
    'Refusals',
    ['Code', 'What it means', ...key, since, '24 hours', 'Requests'],
    rows,
    html`Nothing was refused in the last 24 hours. A request with an unknown key belongs to nobody, and is
not counted here: search the log of <code>partner-network serve</code> for UNAUTHORIZED.`,
  );
}

function receiptsLink({ partnerId }: Owner, { code, keyId }: Refused): Value {
  const query = new URLSearchParams({ partner_id: partnerId, key_id: keyId, outcome: code });
  return linkTo(`${pathTo('receipts')}?${query}`, 'Receipts');
}

/** The status and the meaning of a code. Older versions may have had others. */
export function meaningOf(outcome: string): Value {
  const known = errorCatalogue[outcome as ErrorCode];
  return known === undefined ? '–' : html`<span class="role">${known.status}</span> ${known.when}`;
}
