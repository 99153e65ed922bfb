/** Lines of records by their sources, as far as the audit log knows them. */
import { ingestBounds } from '@partner-network/common/bounds/operator';
import type { ImportKind } from '@partner-network/store/port';
import type { NamedEntry } from '../../operations/audit.ts';
import { type Html, html } from '../html.ts';
import { text, time } from '../parts.ts';
import type { Visit } from '../visit.ts';
import { lineOutcomes, nameOfActor } from './sentences.ts';

type LineCounts = Readonly<Record<(typeof lineOutcomes)[number], number>>;

/** What an entry adds to the entries before it. */
interface Lines {
  readonly entry: NamedEntry;
  readonly atMs: number;
  readonly counts: LineCounts;
}

const countsOf = (of: (outcome: keyof LineCounts) => number) =>
  Object.fromEntries(lineOutcomes.map((outcome) => [outcome, of(outcome)])) as LineCounts;
const none = countsOf(() => 0);

export const totalOf = (lines: readonly Lines[]): LineCounts =>
  countsOf((outcome) => lines.reduce((sum, { counts }) => sum + counts[outcome], 0));
export const hasChanged = ({ counts }: Lines) => counts.written + counts.deleted > 0;

/** Entries that are read: 24 hours of twenty senders of batches. */
export const mostEntries = 1_000;

/** The newest entries about records of a kind, newest first. Demo data counts, too. */
export async function linesOf({ call }: Visit, kind: ImportKind): Promise<Lines[]> {
  const { entries } = await call('listAudit', {
    query: { action: [`import ${kind}`, `batch ${kind}`, 'sandbox'], limit: mostEntries },
  });
  // Demo brands have their partner as the target.
  const isOf = ({ action, target, details }: NamedEntry) =>
    action !== 'sandbox' ||
    ('written' in details &&
      (target === kind || (kind === 'brands' && !['balances', 'grants'].includes(target))));
  return withoutRepeats(entries.filter(isOf));
}

/** A name for what writes entries one after the other. */
const sourceOf = ({ action, actor, details }: NamedEntry) =>
  JSON.stringify([action, actor, action.startsWith('batch') || details.source, details.feed !== undefined]);

/**
 * An entry of a feed counts since its start, and that about an hour of batches also counts the first batch,
 * which has an entry of its own. So what the entry before it says is subtracted.
 */
function withoutRepeats(entries: readonly NamedEntry[]): Lines[] {
  const before = new Map<string, LineCounts>();
  const all = entries.toReversed().map((entry): Lines => {
    const { feed, batches } = entry.details;
    const source = sourceOf(entry);
    const whole = countsOf((outcome) => Number(entry.details[outcome]) || 0);
    const continues = (feed !== undefined && feed !== 'start') || batches !== undefined;
    // Without the entry before it, nobody knows how many lines of a feed are new.
    const counted = before.get(source) ?? (feed === undefined ? none : whole);
    // The next batch is the first of an hour.
    before.set(source, batches === undefined ? whole : none);
    const counts = continues ? countsOf((outcome) => Math.max(0, whole[outcome] - counted[outcome])) : whole;
    return { entry, atMs: Date.parse(entry.at), counts };
  });
  return all.toReversed();
}

/** Who brought the lines, such as "the feed of ingest@host (standard input)". */
export function bringer(entry: NamedEntry): Html {
  const { action, details } = entry;
  if (action === 'sandbox') return html`the demo data`;
  if (action.startsWith('batch')) return html`batches of ${nameOfActor(entry)}`;
  const source = text(String(details.source ?? 'unknown'));
  return html`the ${details.feed === undefined ? 'import' : 'feed'} of ${nameOfActor(entry)} (${source})`;
}

const hourMs = 3_600_000;

/** Feeds that ended or fell silent in the last two days, and so batches that came every hour. */
export function stoppedOf(lines: readonly Lines[], nowMs: number): Html[] {
  const bySource = Map.groupBy(lines, ({ entry }) => sourceOf(entry));
  return [...bySource.values()].flatMap((own) => {
    const [last] = own as [Lines];
    const { action, details } = last.entry;
    const silentMs = nowMs - last.atMs;
    if (silentMs > 48 * hourMs) return [];
    const since = html`${bringer(last.entry)}. Its last entry (UTC): ${time(last.entry.at)}.`;
    if (details.feed === 'end') return html`Ended: ${since}`;
    const isSilent = silentMs > ingestBounds.followAuditMs * 2;
    // The first batch and the end of its hour have an entry each.
    const isSteady = own.filter(({ atMs }) => atMs > last.atMs - 4 * hourMs).length > 3;
    const isMissed = isSilent && (details.feed !== undefined || (action.startsWith('batch') && isSteady));
    return isMissed ? html`Nothing more in the audit log: ${since}` : [];
  });
}
