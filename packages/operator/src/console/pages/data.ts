/** Where the records come from: imports, feeds and batches. */
import { adminBounds } from '@partner-network/common/bounds/operator';
import type { AuditAction, ImportKind } from '@partner-network/store/port';
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { pager, table, time } from '../parts.ts';
import { chart, spanOf } from '../usage.ts';
import type { Visit } from '../visit.ts';
import { auditTable, numbersOf } from './sentences.ts';
import { bringer, hasChanged, linesOf, mostEntries, stoppedOf, totalOf } from './sources.ts';

/** The actions that the page "Data" lists. */
const dataActions: readonly AuditAction[] = [
  'import brands',
  'import balances',
  'import grants',
  'import erasures',
  'batch brands',
  'batch balances',
  'batch grants',
  'sandbox',
];

const kinds: readonly ImportKind[] = ['brands', 'balances', 'grants'];

/** The last change of a kind, its lines, and a chart if there are any. */
async function stateOf(visit: Visit, kind: ImportKind, nowMs: number) {
  const lines = await linesOf(visit, kind);
  const last = lines.find(hasChanged)?.entry;
  const day = spanOf(`${kind[0]!.toUpperCase()}${kind.slice(1)}, last 24 hours`, 'hour', 24, nowMs);
  const oldest = lines.length < mostEntries ? undefined : lines.at(-1)!.atMs;
  const isCut = oldest !== undefined && oldest > nowMs - 24 * adminBounds.auditMs;
  const since = (ms: number) => lines.filter(({ atMs }) => atMs > nowMs - ms);
  const counted = lines.flatMap(({ entry, counts }) =>
    Object.entries(counts).flatMap(([code, count]) =>
      count === 0 ? [] : { from: `${entry.at.slice(0, 13)}:00:00.000Z`, code, count },
    ),
  );
  const inDay = counted.filter(({ from }) => from >= day.starts[0]!);
  return {
    stopped: stoppedOf(lines, nowMs),
    row: [
      kind,
      last === undefined ? 'none in the audit log' : html`${time(last.at)} by ${bringer(last)}`,
      numbersOf(totalOf(since(adminBounds.auditMs))) || 'none',
      `${numbersOf(totalOf(since(24 * adminBounds.auditMs))) || 'none'}${isCut ? `, in ${mostEntries} entries` : ''}`,
    ],
    chart: inDay.length > 0 && chart(day, inDay, ['rejected', 'stale', 'deleted', 'unchanged'], 'written'),
  };
}

export async function dataPage(visit: Visit): Promise<Page> {
  const { call, query } = visit;
  const states = await Promise.all(kinds.map((kind) => stateOf(visit, kind, Date.now())));
  const stopped = states.flatMap((state) => state.stopped);
  const { entries, cursor } = await call('listAudit', {
    query: { action: dataActions, cursor: query.cursor, limit: 50 },
  });
  // A sandbox also has entries about its partners and keys.
  const ofData = entries.filter(({ action, details }) => action !== 'sandbox' || 'written' in details);
  const empty = html`Nothing was imported yet. Send a batch to the administrative API, or use
<code>partner-network import</code>.`;
  return {
    title: 'Data',
    place: 'data',
    body: html`<h1>Data</h1>
${stopped.map((said) => html`<p class="errors">${said}</p>`)}
${stopped.length === 0 && html`<p>No feed and no hourly batches stopped in the last two days.</p>`}
${table(
  'State of the data',
  ['Data', 'Last known change (UTC)', 'Last hour, at least', 'Last 24 hours, at least'],
  states.map(({ row }) => row),
  '',
)}
<p class="hint">Counted in lines, from the audit log. Feeds and batches have an entry about once an hour, so
the last change may be up to an hour newer, and lines may be missing. For lag and rates, see the
dashboard.</p>
<h2>Lines of the day</h2>
<div class="charts">${states.map(({ chart }) => chart)}</div>
<h2>Imports, feeds and batches</h2>
<p class="hint">Newest first. An entry of a feed counts since the start of the feed.</p>
${await auditTable(visit, ofData, empty)}
${pager('/console/data', query, 'cursor', cursor)}`,
  };
}
