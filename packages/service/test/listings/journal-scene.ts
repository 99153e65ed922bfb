import type { TestContext } from 'node:test';
import { receiptsBounds } from '@partner-network/common/bounds/service';
import { startTestService } from '../../../testkit/service/service.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { createJournal, type Journal } from '../../src/receipts.ts';

export type Choices = Parameters<typeof startTestService>[1];

// On a busy machine the last write may take longer than a shutdown waits.
Object.assign(receiptsBounds, { closeMs: 60_000 });

/** A service that writes receipts; `receipts` flushes and reads them. */
export async function startWithJournal(t: TestContext, choices: Choices = {}) {
  let journal: Journal | undefined;
  const service = await startTestService(t, {
    ...choices,
    journal: ({ store }) => (journal = createJournal(store, watchedLog().log)),
  });
  const receipts = async () => {
    await journal!.close();
    return service.store.listReceipts({ limit: 1_000 });
  };
  return { ...service, receipts };
}
