import { bounds } from '../bounds.ts';
import { refusal } from './refusal.ts';

interface Share {
  atWork: number;
  /** Called with a place, or with none when it took too long. */
  readonly waiting: Set<(hasPlace: boolean) => void>;
}

export interface Shares {
  run<Result>(partnerId: string, work: () => Promise<Result>): Promise<Result>;
}

/**
 * Keeps one partner from taking all connections to the database, by pages that are large or slow: of each so
 * many are at work, and some wait for those. Only its own requests wait for it.
 */
export function createShares(
  most: { readonly atWork: number; readonly places: number },
  onRefused: () => void,
): Shares {
  const shares = new Map<string, Share>();

  function shareOf(partnerId: string): Share {
    const known = shares.get(partnerId);
    if (known !== undefined) return known;
    const share: Share = { atWork: 0, waiting: new Set() };
    shares.set(partnerId, share);
    return share;
  }

  function waitForPlace({ atWork, waiting }: Share): Promise<boolean> {
    if (atWork + waiting.size >= most.places) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (hasPlace: boolean) => {
        clearTimeout(timer);
        waiting.delete(settle);
        resolve(hasPlace);
      };
      const timer = setTimeout(settle, bounds.postgresPoolWaitMs, false);
      waiting.add(settle);
    });
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
      if (share.atWork < most.atWork) share.atWork += 1;
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
