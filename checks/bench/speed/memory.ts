/** Memory of a service on SQLite during 200,000 requests. */
import { say } from '../../lib/program.ts';
import { megabytesOf } from '../lib/cpu.ts';
import type { Partner } from '../lib/data.ts';
import type { Generator } from '../lib/load.ts';
import type { Measurement } from '../lib/report.ts';
import { playLoad, startLogging } from './contenders.ts';
import { firstPages, middlePages, oneBalances } from './requests.ts';

const most = 200_000;

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
  let answered = 0;
  while (answered < most) {
    answered += await playLoad(
      generator,
      { name: 'memory', listener: service, requests },
      1,
      service.emptyLog,
    );
  }
  say(`Memory: ${answered} requests.`);
  const name = 'memory after 200,000 requests, sqlite';
  return [{ name, figures: [megabytesOf(service.pid).most], unit: 'MB', atMost: 160 }];
}
