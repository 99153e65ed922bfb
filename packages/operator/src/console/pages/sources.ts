/** Lines of records by their sources, as far as the audit log knows them. */
import { adminBounds, ingestBounds } from '@partner-network/common/bounds/operator';
import type { ImportKind } from '@partner-network/store/port';
import type { NamedEntry } from '../../operations/audit.ts';
import { type Html, html } from '../html.ts';
import { text } from '../parts.ts';
import type { Visit } from '../visit.ts';
import { who } from './sentences.ts';

export const lineOutcomes = ['written', 'unchanged', 'stale', 'deleted', 'rejected'] as const;
type LineCounts = Readonly<Record<(typeof lineOutcomes)[number], number>>;

/** What an entry adds to the entries before it. */
interface Lines {
  readonly entry: NamedEntry;
  readonly atMs: number;
  counts: LineCounts;
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

/** When a feed or an hour of batches began, and how much the times of two entries may differ. */
const startMs = ({ atMs, entry }: Lines) => atMs - Number(entry.details.duration_ms ?? 0);
const sameStartMs = 60_000;

/**
 * An entry of a feed counts since its start, so the counts of the previous one are subtracted. The entry
 * about an hour of batches also counts the first one, which has an entry of its own.
 */
function withoutRepeats(entries: readonly NamedEntry[]): Lines[] {
  const before = new Map<string, Lines[]>();
  const all = entries.toReversed().map((entry): Lines => {
    const { at, details } = entry;
    const whole = countsOf((outcome) => Number(details[outcome] ?? 0));
    const lines: Lines = { entry, atMs: Date.parse(at), counts: whole };
    const earlier = before.get(sourceOf(entry)) ?? [];
    before.set(sourceOf(entry), details.batches === undefined ? [...earlier, lines] : []);
    if (details.batches !== undefined) {
      const fromMs = startMs(lines) - adminBounds.batchMs;
      for (const single of earlier) if (single.atMs >= fromMs) single.counts = none;
    }
    const previous = earlier.findLast((one) => Math.abs(startMs(one) - startMs(lines)) < sameStartMs);
    if (details.feed !== undefined && details.feed !== 'start') {
      // Without the entry before it, nobody knows how many are new.
      lines.counts = countsOf((outcome) =>
        previous === undefined ? 0 : whole[outcome] - Number(previous.entry.details[outcome] ?? 0),
      );
    }
    return lines;
  });
  return all.toReversed();
}

/** Who brought the lines, such as "the feed of ingest@host (standard input)". */
export function bringer(entry: NamedEntry): Html {
  const { action, details } = entry;
  if (action === 'sandbox') return html`the demo data`;
  if (action.startsWith('batch')) return html`batches of ${who(entry)}`;
  const source = text(String(details.source ?? 'unknown'));
  return html`the ${details.feed === undefined ? 'import' : 'feed'} of ${who(entry)} (${source})`;
}

const hourMs = 3_600_000;

/** Feeds that ended or fell silent in the last two days, and so batches that came every hour. */
export function stoppedOf(lines: readonly Lines[], nowMs: number): Lines[] {
  const bySource = Map.groupBy(lines, ({ entry }) => sourceOf(entry));
  return [...bySource.values()].flatMap((own) => {
    const [last] = own as [Lines];
    const { action, details } = last.entry;
    const silentMs = nowMs - last.atMs;
    if (silentMs > 48 * hourMs) return [];
    if (details.feed === 'end') return last;
    const isSilent = silentMs > ingestBounds.followAuditMs * 2;
    // The first batch and the end of its hour have an entry each.
    const isSteady = own.filter(({ atMs }) => atMs > last.atMs - 4 * hourMs).length > 3;
    return isSilent && (details.feed !== undefined || (action.startsWith('batch') && isSteady)) ? last : [];
  });
}
