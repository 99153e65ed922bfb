/** Memory of a service on SQLite during 200,000 requests, and whether it keeps growing. */
import { say } from '../../lib/program.ts';
import { megabytesOf } from '../lib/cpu.ts';
import type { Partner } from '../lib/data.ts';
import type { Generator } from '../lib/load.ts';
import type { Measurement } from '../lib/report.ts';
import { playLoad, startLogging } from './contenders.ts';
import { firstPages, middlePages, oneBalances } from './requests.ts';

const requestsOfQuarter = 50_000;
const quarters = ['first', 'second', 'third', 'last'];
const sampleMs = 50;

export async function measureMemory(
  generator: Generator,
  database: string,
  partners: readonly Partner[],
): Promise<Measurement[]> {
  // The first start compiles everything, which takes tens of megabytes more. It keeps the code at its end.
  const first = await startLogging(database);
  const middle = await middlePages(first.port, partners);
  first.signal('SIGINT');
  await first.ended;
  const service = await startLogging(database);
  const requests = [...firstPages(partners), ...middle, ...oneBalances(partners)];
  const peaks: Measurement[] = [];
  let answered = 0;
  for (const quarter of quarters) {
    let peak = 0;
    const sampling = setInterval(() => {
      peak = Math.max(peak, megabytesOf(service.pid).now);
    }, sampleMs);
    while (answered < (peaks.length + 1) * requestsOfQuarter) {
      answered += await playLoad(
        generator,
        { name: 'memory', listener: service, requests },
        1,
        service.emptyLog,
      );
    }
    clearInterval(sampling);
    say(`Memory: ${answered} requests.`);
    const goal = quarter === 'last' && { over: peaks.at(-1)!.name, atMost: 1.05 };
    peaks.push({ name: `peak in the ${quarter} quarter`, figures: [peak], unit: 'MB', ...goal });
  }
  const most = megabytesOf(service.pid).most;
  const name = 'memory after 200,000 requests, sqlite';
  return [{ name, figures: [most], unit: 'MB', atMost: 160 }, ...peaks];
}
