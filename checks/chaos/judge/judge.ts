/** Checks all promises against the record of a run. */
import type { Run, Verdict } from '../record.ts';
import { judgeAnswers } from './answers.ts';
import { judgePages } from './pages.ts';
import { judgeRate } from './rate.ts';
import { judgeReceipts } from './receipts.ts';
import { judgeWalks } from './walks.ts';

export function judge(run: Run): Verdict[] {
  return [judgePages, judgeWalks, judgeRate, judgeReceipts, judgeAnswers].flatMap((part) => part(run));
}
