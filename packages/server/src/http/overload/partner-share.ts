import { overloadBounds } from '../../bounds/overload.ts';
import { refusal } from '../refusal.ts';

interface Share {
  atWork: number;
  /** Called with a place, or with none when it took too long. */
  readonly waiting: Set<(hasPlace: boolean) => void>;
}

interface Listener {
  /** One begins to wait, and one is done with it. */
  onWait(): void;
  onWaited(): void;
  onRefused(): void;
}

interface Shares {
  run<Result>(partnerId: string, work: () => Promise<Result>): Promise<Result>;
}

/**
 * Keeps one partner from taking all connections to the database, by pages that are large or slow: so many of
 * them are at work at a time, and others of the same partner wait for these.
 */
export function createShares(mostAtWork: number, { onWait, onWaited, onRefused }: Listener): Shares {
  const shares = new Map<string, Share>();

  function shareOf(partnerId: string): Share {
    const known = shares.get(partnerId);
    if (known !== undefined) return known;
    const share: Share = { atWork: 0, waiting: new Set() };
    shares.set(partnerId, share);
    return share;
  }

  async function waitForPlace({ waiting }: Share): Promise<boolean> {
    if (waiting.size >= overloadBounds.requestsOfPartner) return false;
    onWait();
    const hasPlace = await new Promise<boolean>((resolve) => {
      const settle = (hasPlace: boolean) => {
        clearTimeout(timer);
        waiting.delete(settle);
        resolve(hasPlace);
      };
      const timer = setTimeout(settle, overloadBounds.shareWaitMs, false);
      waiting.add(settle);
    });
    onWaited();
    return hasPlace;
  }

  /** A place goes from hand to hand, so that nobody overtakes those who wait. */
  function leavePlace(partnerId: string, share: Share): void {
    const [next] = share.waiting;
    if (next === undefined) {
      share.atWork -= 1;
      if (share.atWork === 0) shares.delete(partnerId);
    } else next(true);
  }

  return {
    async run(partnerId, work) {
      const share = shareOf(partnerId);
      if (share.atWork < mostAtWork) share.atWork += 1;
      else if (!(await waitForPlace(share))) {
        onRefused();
        throw refusal('SERVICE_UNAVAILABLE');
      }
      try {
        return await work();
      } finally {
        leavePlace(partnerId, share);
      }
    },
  };
}
