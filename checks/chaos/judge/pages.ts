/**
 * Judges every page: it shows the data of one moment, and a walk does not go back in time. Judges complete
 * walks: every record that existed during the whole walk is in it exactly once.
 */
import { type History, mayHaveBeen, type Rows, spansOf } from '../history.ts';
import type { Answer, Walk } from '../record.ts';
import { type Run, type Verdict, type Violation, verdictOf } from '../record.ts';
import { partners, referenceOf } from '../world.ts';

/**
 * The greatest age of a page of brands. A replica may lag by 1 s, which is checked every 0.2 s; the rest is
 * for a busy machine. Balances are never read from a replica.
 */
const stalenessMs = 1_500;

/** The content of a page. */
interface Shown {
  readonly answer: Answer;
  /** The JSON of each record, by id. */
  readonly records: ReadonlyMap<string, string>;
  readonly ids: readonly string[];
  readonly hasCursor: boolean;
}

function shownBy(answer: Answer): Shown {
  const page = JSON.parse(answer.body) as Record<string, unknown>;
  const records = page[answer.listing] as { id: string }[];
  return {
    answer,
    records: new Map(records.map((record) => [record.id, JSON.stringify(record)])),
    ids: records.map(({ id }) => id),
    hasCursor: typeof page.cursor === 'string' && page.cursor !== '',
  };
}

/** The owner of the records on a page. */
function ownerOf({ listing, partnerId, customerId }: Answer): string {
  return listing === 'brands' ? partnerId : customerId!;
}

/** The pages of each walk. Of several answers to one request, the client used the last. */
function pagesByWalk(answers: readonly Answer[]): ReadonlyMap<number, readonly Shown[]> {
  const walks = new Map<number, Shown[]>();
  for (const answer of answers) {
    if (answer.status !== 200) continue;
    const pages = walks.get(answer.walk) ?? [];
    walks.set(answer.walk, pages);
    pages[answer.page] = shownBy(answer);
  }
  return walks;
}

export function judgePages(run: Run): Verdict[] {
  const { history, recorder } = run;
  const moments = new Map<number, number>();
  const wrong: Violation[] = [];
  const foreign: Violation[] = [];
  let judged = 0;
  for (const answer of recorder.answers) {
    if (answer.status !== 200) continue;
    judged += 1;
    const shown = shownBy(answer);
    const foreignRecord = foreignRecordOn(shown, run);
    if (foreignRecord !== undefined) foreign.push(violationOf(answer, foreignRecord));
    const earliestMs =
      answer.listing === 'balances'
        ? answer.sentMs
        : Math.max(answer.sentMs - stalenessMs, moments.get(answer.walk) ?? -Infinity);
    const found = momentOf(shown, history.rows(answer.listing, ownerOf(answer)), earliestMs);
    if (typeof found === 'string') wrong.push(violationOf(answer, found));
    else moments.set(answer.walk, found);
  }
  return [
    verdictOf(
      'every page shows the data of one moment, and never of an earlier one than before',
      'pages',
      judged,
      wrong,
    ),
    verdictOf('no page contains records of another partner', 'pages', judged, foreign),
  ];
}

function violationOf(answer: Answer, text: string): Violation {
  const { walk, page, listing, partnerId, customerId = '' } = answer;
  const owner = `${partnerId}${customerId && ` of ${customerId}`}`;
  return { atMs: answer.sentMs, text: `walk ${walk}, page ${page}, ${listing} for ${owner}: ${text}` };
}

/** The first time at which the data equalled the page, or a sentence about why the page is wrong. */
function momentOf(shown: Shown, rows: Rows, earliestMs: number): number | string {
  const { answer, records, ids, hasCursor } = shown;
  const wrongForm = formFault(shown);
  if (wrongForm !== undefined) return wrongForm;
  const unknown = ids.find((id) => !rows.has(id));
  if (unknown !== undefined) return `${unknown} never existed`;
  const last = hasCursor ? ids.at(-1)! : undefined;
  const spans = [...rows]
    .filter(([id]) => id > (answer.after ?? '') && (last === undefined || id <= last))
    .filter(([id]) => isOfReference(id, answer.referenceId))
    .map(([id, row]) => ({ id, of: spansOf(row, records.get(id)) }));
  let moment = earliestMs;
  for (let isSettled = false; !isSettled; ) {
    isSettled = true;
    for (const { id, of } of spans) {
      const nextMs = momentFrom(of, moment);
      if (nextMs > answer.receivedMs) return whyNot(id, records.get(id), of, moment, answer);
      if (nextMs > moment) isSettled = false;
      moment = nextMs;
    }
  }
  return moment;
}

/** The first moment from `fromMs` on that lies in one of the spans. */
function momentFrom(spans: readonly (readonly [number, number])[], fromMs: number): number {
  const moments = spans.filter(([, end]) => end >= fromMs).map(([begin]) => Math.max(begin, fromMs));
  return Math.min(Infinity, ...moments);
}

function whyNot(
  id: string,
  record: string | undefined,
  spans: readonly (readonly [number, number])[],
  momentMs: number,
  { sentMs, receivedMs }: Answer,
): string {
  const state = record === undefined ? 'left out' : `shown as ${record.slice(0, 80)}`;
  const endMs = Math.max(-Infinity, ...spans.map(([, end]) => end).filter((end) => end < momentMs));
  const known = endMs === -Infinity ? 'was never so before' : `was so until ${ago(sentMs - endMs)}`;
  const took = `answered in ${Math.round(receivedMs - sentMs)} ms`;
  return `${id} is ${state}, and ${known} the request (${took})`;
}

function ago(ms: number): string {
  return ms >= 0 ? `${Math.round(ms)} ms before` : `${Math.round(-ms)} ms after`;
}

/** Checks the JSON text, the order of ids, the limit and the filter. */
function formFault({ answer, ids, records, hasCursor }: Shown): string | undefined {
  if (JSON.stringify(JSON.parse(answer.body)) !== answer.body) return 'not formatted like a record';
  if (ids.some((id, index) => id <= (ids[index - 1] ?? answer.after ?? ''))) return 'ids out of order';
  if (ids.length > answer.limit) return `${ids.length} records, more than ${answer.limit}`;
  if (hasCursor && ids.length < answer.limit) return `a cursor after ${ids.length} of ${answer.limit}`;
  const isFit = [...records.values()].every(
    (record) => answer.referenceId === undefined || JSON.parse(record).reference_id === answer.referenceId,
  );
  return isFit ? undefined : 'a record that does not match the filter';
}

/** Whether a row is in a listing with this filter. */
function isOfReference(id: string, referenceId: string | undefined): boolean {
  return referenceId === undefined || referenceOf(id) === referenceId;
}

/** Finds a record of another partner or customer. Names contain the partner. */
function foreignRecordOn({ answer, records }: Shown, { history }: Run): string | undefined {
  for (const [id, record] of records) {
    if (answer.listing === 'balances') {
      if (JSON.parse(record).customer_id !== answer.customerId) return `${id} of another customer`;
      continue;
    }
    for (const other of partners) {
      if (other === answer.partnerId) continue;
      const row = history.rows('brands', other).get(id) ?? [];
      if (row.some(({ value }) => value === record)) return `${id} is a brand of ${other}`;
    }
  }
  return undefined;
}

export function judgeWalks({ history, recorder }: Run): Verdict[] {
  const pages = pagesByWalk(recorder.answers);
  const complete = recorder.walks.filter(({ isComplete }) => isComplete);
  const last = recorder.walks.filter(({ isLast }) => isLast);
  const faultOf = ({ walk }: Walk): Violation | undefined => {
    const own = pages.get(walk) ?? [];
    const atMs = own[0]?.answer.sentMs ?? 0;
    const text = own.length === 0 ? 'no page' : walkFault(own, history);
    return text === undefined ? undefined : { atMs, text: `walk ${walk}: ${text}` };
  };
  const unfinished = last.filter(({ isComplete }) => !isComplete);
  return [
    verdictOf(
      'a record that exists during a whole walk is in it exactly once, in order',
      'walks',
      complete.length,
      complete.map(faultOf),
    ),
    verdictOf('no write is lost at the end', 'last walks', last.length, [
      ...last.filter(({ isComplete }) => isComplete).map(faultOf),
      ...unfinished.map(({ walk }) => ({ atMs: 0, text: `walk ${walk} did not reach its last page` })),
    ]),
  ];
}

function walkFault(pages: readonly Shown[], history: History): string | undefined {
  if (Array.from(pages).some((page) => page === undefined)) return 'a page is missing';
  if (pages.some(({ hasCursor }, index) => hasCursor !== index < pages.length - 1)) {
    return 'cursors do not lead from page to page';
  }
  const ids = pages.flatMap((page) => page.ids);
  const repeated = ids.find((id, index) => ids.indexOf(id) < index);
  if (repeated !== undefined) return `${repeated} is repeated`;
  const disorder = ids.find((id, index) => index > 0 && id < ids[index - 1]!);
  if (disorder !== undefined) return `${disorder} comes after greater ids`;

  const { answer } = pages[0]!;
  const fromMs = answer.sentMs - (answer.listing === 'brands' ? stalenessMs : 0);
  const toMs = pages.at(-1)!.answer.receivedMs;
  const shown = new Set(ids);
  for (const [id, row] of history.rows(answer.listing, ownerOf(answer))) {
    const isMissing = isOfReference(id, answer.referenceId) && !shown.has(id);
    if (isMissing && !mayHaveBeen(row, undefined, fromMs, toMs))
      return `${id} is missing, although it existed during the whole walk`;
  }
  return undefined;
}
