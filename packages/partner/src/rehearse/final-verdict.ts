import { readFileSync, statSync } from 'node:fs';
import { pageSize } from '@partner-network/contract/limits';
import { keptReasons, type Verdict } from '@partner-network/service/rehearsals/scenarios';

type Promised = Verdict['promises'][number];

/**
 * The verdict after the program has ended. No promise is pending any more: what the program has not done by
 * now is broken. `records` is the length of the whole listing.
 */
export function finalVerdict(verdict: Verdict, resultFile: string, records: number): Verdict {
  const walk = recordsOfWalk(verdict, records);
  const promises = verdict.promises.map((promise): Promised => {
    const { name } = promise;
    const isCount = name === 'counted-each-record-once' && walk !== undefined;
    const judged = isCount ? judgeCount(resultFile, walk) : undefined;
    if (judged !== undefined) return { ...promise, ...judged };
    if (promise.verdict !== 'pending') return promise;
    // The others say what a client must not do. A program that did nothing has kept them.
    const isUndone = name === 'reached-the-last-page' || name === 'resumed';
    return isUndone
      ? { ...promise, verdict: 'broken' }
      : { name, verdict: 'kept', reason: keptReasons[name] };
  });
  return { ...verdict, promises };
}

/** The number of records of a walk. Undefined if the walk broke off where it should have gone on. */
function recordsOfWalk({ promises, requests }: Verdict, records: number): number | undefined {
  const end = promises.find(({ name }) => name === 'reached-the-last-page');
  if (end?.verdict !== 'kept') return undefined;
  if (end.reason === keptReasons[end.name]) return records;
  // The client had to stop. No page before that was cut off or sent to a walk that started again.
  const pages = requests.filter(({ method, status }) => method === 'GET' && status === 200);
  let sent = 0;
  for (const path of new Set(pages.map(({ path }) => path)))
    sent += Number(/[?&]limit=(\d+)/.exec(path)?.[1] ?? pageSize.default);
  return Math.min(records, sent);
}

/** Compares what the program wrote with the walk. A program that wrote no file is not judged. */
function judgeCount(resultFile: string, walk: number): Pick<Promised, 'verdict' | 'reason'> | undefined {
  let counted: unknown;
  try {
    // Reading a named pipe that nobody writes to would never end.
    if (statSync(resultFile).isFile()) counted = JSON.parse(readFileSync(resultFile, 'utf8')).records;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  }
  if (!Number.isInteger(counted))
    return { verdict: 'broken', reason: 'The file REHEARSAL_RESULT must contain {"records":N}.' };
  const reason = `The program counted ${counted} records, and the walk had ${walk}.`;
  return { verdict: counted === walk ? 'kept' : 'broken', reason };
}
