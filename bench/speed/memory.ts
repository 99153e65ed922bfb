/** How much a service holds while it answers, and whether it goes on growing. */
import { megabytesOf } from '../lib/cpu.ts';
import { type LoadTool, type Request, untilInOrder } from './load.ts';
import type { Service } from './services.ts';

export interface Memory {
  readonly requests: number;
  /** The most that was resident at any time, also at its start, in megabytes. */
  readonly most: number;
  /** The most that was seen in each quarter of the requests. */
  readonly quarterPeaks: readonly number[];
}

const requestsOfQuarter = 50_000;
const quarters = 4;
const sampleMs = 50;
const sliceSeconds = 1;
const inOrder = { name: 'memory', status: 200, mostOthers: 0 };

export async function measureMemory(
  { pid, port, emptyLog }: Service,
  requests: readonly Request[],
  tool: LoadTool,
  onQuarter: (quarter: number) => void,
): Promise<Memory> {
  let peak = 0;
  const sampling = setInterval(() => {
    peak = Math.max(peak, megabytesOf(pid).now);
  }, sampleMs);
  const quarterPeaks: number[] = [];
  let answered = 0;
  try {
    for (let quarter = 1; quarter <= quarters; quarter += 1) {
      peak = megabytesOf(pid).now;
      while (answered < quarter * requestsOfQuarter) {
        const { expected } = await untilInOrder(inOrder, async () => {
          const answers = await tool.play({ port, requests, status: 200 }, sliceSeconds);
          emptyLog();
          return answers;
        });
        answered += expected;
      }
      quarterPeaks.push(peak);
      onQuarter(quarter);
    }
  } finally {
    clearInterval(sampling);
  }
  return { requests: answered, most: megabytesOf(pid).most, quarterPeaks };
}
