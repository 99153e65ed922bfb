/** All promises, held against all that a run gave. */
import { judgeAnswers } from './judge-answers.ts';
import { judgePages } from './judge-pages.ts';
import { judgeRate } from './judge-rate.ts';
import { judgeReceipts } from './judge-receipts.ts';
import { judgeWalks } from './judge-walks.ts';
import type { Course } from './run.ts';
import type { Verdict } from './verdict.ts';

export function judge(course: Course): Verdict[] {
  return [judgePages, judgeWalks, judgeRate, judgeReceipts, judgeAnswers].flatMap((part) => part(course));
}
