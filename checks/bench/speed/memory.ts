/** Memory of a service during 200,000 requests, and whether it keeps growing. */

import { megabytesOf } from '../lib/cpu.ts';
import type { Generator, Request } from '../lib/load.ts';
import { playLoad } from './load.ts';
import type { Service } from './services.ts';

const requestsOfQuarter = 50_000;
const quarters = 4;
const sampleMs = 50;
const sliceSeconds = 1;

export async function measureMemory(
  service: Service,
  requests: readonly Request[],
  generator: Generator,
  onQuarter: (quarter: number) => void,
) {
  const { pid, emptyLog } = service;
  let peak = 0;
  const sampling = setInterval(() => {
    peak = Math.max(peak, megabytesOf(pid).now);
  }, sampleMs);
  const load = { name: 'memory', listener: service, requests, status: 200 };
  /** The highest sample in each quarter of the requests. */
  const quarterPeaks: number[] = [];
  let answered = 0;
  try {
    for (let quarter = 1; quarter <= quarters; quarter += 1) {
      peak = megabytesOf(pid).now;
      while (answered < quarter * requestsOfQuarter) {
        answered += await playLoad(generator, load, sliceSeconds, emptyLog);
      }
      quarterPeaks.push(peak);
      onQuarter(quarter);
    }
  } finally {
    clearInterval(sampling);
  }
  return { requests: answered, most: megabytesOf(pid).most, quarterPeaks };
}
