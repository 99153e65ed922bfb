/** Judges complete walks: every record that existed during the whole walk is in it exactly once. */
import { type History, mayHaveBeen } from '../history.ts';
import { type Run, type Verdict, type Violation, verdictOf } from '../record.ts';
import type { Walk } from '../recorder.ts';
import { isOfReference, ownerOf, pagesByWalk, type Shown, stalenessMs } from './pages.ts';

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
