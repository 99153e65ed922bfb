/** Judges late lines: no deleted record or older version comes back. */
import { mayHaveBeen } from '../history.ts';
import type { Run } from '../record.ts';
import { ownerOf, shownBy, stalenessMs } from './pages.ts';
import { type Verdict, verdictOf } from './verdict.ts';

export function judgeLateLines({ history, recorder }: Run): Verdict[] {
  const taken = history.late.filter((late) => late.taken > 0);
  const shown = recorder.answers.flatMap((answer) => {
    if (answer.status !== 200) return [];
    const rows = history.rows(answer.listing, ownerOf(answer));
    const fromMs = answer.sentMs - (answer.listing === 'brands' ? stalenessMs : 0);
    const back = [...shownBy(answer).records].find(
      ([id, record]) => !mayHaveBeen(rows.get(id) ?? [], record, fromMs, answer.receivedMs),
    );
    return back === undefined ? [] : [{ atMs: answer.sentMs, text: `${back[0]} is back as ${back[1]}` }];
  });
  const lines = history.late.reduce((sum, { lines }) => sum + lines, 0);
  return [
    verdictOf('late lines have no effect, and nothing deleted or replaced comes back', 'late lines', lines, [
      ...taken.map((late) => ({
        atMs: late.atMs,
        text: `${late.taken} of ${late.lines} late lines written or rejected`,
      })),
      ...shown,
    ]),
  ];
}
