import type { TestContext } from 'node:test';
import { startHealth } from '../../../http/src/health.ts';
import type { StoreOptions } from '../../../store/src/address.ts';
import { openServing } from '../../../testkit/service/database.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';

/** An instance that serves the database, without listening for partners. */
export async function instanceOn(t: TestContext, url: string, options: Partial<StoreOptions> = {}) {
  const store = await openServing(t, url, options);
  const watched = watchedLog();
  const health = await startHealth('127.0.0.1', 0, store.ping, async () => [], watched.log);
  t.after(health.close);
  const answer = async () => {
    const response = await fetch(`${health.url}/readyz`);
    const text = await response.text();
    return response.status === 200 ? text : response.status;
  };
  return { store, answer, lines: watched.lines };
}
