import { overloadBounds } from '@partner-network/common/bounds/overload';
import { createWaitQueue, type WaitQueue } from '@partner-network/common/wait-queue';
import { refusal } from '../refusal.ts';

interface Share {
  working: number;
  /** Made when the first request has to wait: most shares never need it. */
  queue?: WaitQueue<void>;
}

type Events = Readonly<Record<'onWait' | 'onWaited' | 'onRefused', () => void>>;

type WithinShare = <Result>(partnerId: string, work: () => Promise<Result>) => Promise<Result>;

/** Lets at most `mostWorking` requests of one partner use the database at a time; the others wait. */
export function createShares(mostWorking: number, { onWait, onWaited, onRefused }: Events): WithinShare {
  const shares = new Map<string, Share>();

  function refuse() {
    onRefused();
    return refusal('SERVICE_UNAVAILABLE');
  }

  async function waitForPlace(share: Share): Promise<void> {
    share.queue ??= createWaitQueue(overloadBounds.shareWaitMs, refuse);
    if (share.queue.length >= overloadBounds.partnerQueue) throw refuse();
    onWait();
    try {
      await share.queue.wait();
    } finally {
      onWaited();
    }
  }

  return async (partnerId, work) => {
    let share = shares.get(partnerId);
    if (share === undefined) {
      share = { working: 0 };
      shares.set(partnerId, share);
    }
    if (share.working < mostWorking) share.working += 1;
    else await waitForPlace(share);
    try {
      return await work();
    } finally {
      // The place goes to the oldest waiting request, so that a new request cannot overtake it.
      if (share.queue?.give() !== true) {
        share.working -= 1;
        if (share.working === 0) shares.delete(partnerId);
      }
    }
  };
}
