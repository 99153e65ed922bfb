/** Sends events through four followers at once, and reads meanwhile. */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import { type Fields, type Kind, type ModelEvent, partners, recordOf } from './events.ts';
import type { GrantState, Observer } from './observer.ts';

const followers = 4;
const readers = 2;
/** A pause after each walk, so that reading does not take the CPU of the followers. */
const readerPauseMs = 10;

interface Page {
  readonly records: readonly Fields[];
  /** What the next page is requested with. Absent on the last page. */
  readonly next?: string | undefined;
}

/** Reads as a partner does. */
export interface Reads {
  brands(partnerId: string, limit: number, next?: string): Promise<Page>;
  balances(customerId: string, limit: number, next?: string): Promise<Page>;
  grant(partnerId: string, customerId: string, id: string): Promise<GrantState>;
}

export interface Delivery {
  readonly chance: Chance;
  readonly observer: Observer;
  /** The greatest number of lines that one follower gets. */
  readonly lines: number;
  /**
   * Follows lines of one kind. Resolves to true if all of them are confirmed, to false if the follower was
   * killed at some moment.
   */
  follow(follower: number, kind: Kind, lines: readonly Fields[], isKilled: boolean): Promise<boolean>;
}

/** Lines of killed followers are sent again, at random places among those that were not sent yet. */
export async function deliverAll(
  deliveries: readonly ModelEvent[],
  { chance, observer, lines, follow }: Delivery,
): Promise<{ kills: number }> {
  const queues = Map.groupBy(deliveries, ({ kind }) => kind);
  let kills = 0;

  async function keepFollowing(follower: number): Promise<void> {
    for (;;) {
      const filled = [...queues.values()].filter((queue) => queue.length > 0);
      if (filled.length === 0) return;
      const queue = chance.oneOf(filled);
      const some = queue.splice(-chance.between(1, lines));
      observer.send(some);
      // The embedded database answers at once, so that readers would have no turn.
      await nextTurn();
      const isKilled = chance.fraction() < 0.4;
      const sent = some.map(({ line }) => line);
      if (await follow(follower, some[0]!.kind, sent, isKilled)) {
        observer.confirm(some);
        continue;
      }
      kills += 1;
      for (const event of some) {
        const place = chance.between(0, queue.length);
        queue.push(queue[place] ?? event);
        queue[place] = event;
      }
    }
  }

  await Promise.all(Array.from({ length: followers }, (_, follower) => keepFollowing(follower)));
  return { kills };
}

const limits = [3, 10, 50, 100];

/** Walks through random listings until the work is done. Returns the number of pages. */
export async function readDuring(
  work: Promise<unknown>,
  { chance, observer, reads }: { chance: Chance; observer: Observer; reads: Reads },
): Promise<number> {
  let isOver = false;
  const done = work.finally(() => {
    isOver = true;
  });
  const names = [...observer.records.keys()];
  const customers = [...new Set(names.filter((name) => name.startsWith('balances ')).map(ownerOf))];
  const grants = names.filter((name) => name.startsWith('grants '));

  async function keepReading(): Promise<number> {
    const { expectPage, expectGrant, pages } = observer.reader();

    async function walk(kind: Kind, owner: string, read: Reads['brands']): Promise<void> {
      const limit = chance.oneOf(limits);
      const own = names.filter((name) => name.startsWith(recordOf(kind, owner, '')));
      let after = '';
      let next: string | undefined;
      do {
        const take = expectPage();
        const page = await read(owner, limit, next);
        await nextTurn();
        next = page.next;
        const last = next === undefined ? '\uffff' : String(page.records.at(-1)!.id);
        const inRange = own.filter((name) => idOf(name) > after && idOf(name) <= last);
        take(inRange, new Map(page.records.map((record) => [recordOf(kind, owner, record.id), record])));
        after = last;
      } while (next !== undefined && !isOver);
    }

    while (!isOver) {
      await wait(readerPauseMs);
      await walk('brands', chance.oneOf(partners), reads.brands);
      await walk('balances', chance.oneOf(customers), reads.balances);
      for (let count = 0; count < 5 && grants.length > 0; count += 1) {
        const record = chance.oneOf(grants);
        const partnerId = observer.records.get(record)![0]!.line.partner_id as string;
        const take = expectGrant(record);
        take(await reads.grant(partnerId, ownerOf(record), idOf(record)));
      }
    }
    return pages();
  }

  const counts = Promise.all(Array.from({ length: readers }, keepReading));
  await Promise.all([done, counts]);
  return (await counts).reduce((sum, count) => sum + count, 0);
}

const ownerOf = (record: string) => record.split(' ')[1]!;
const idOf = (record: string) => record.split(' ')[2]!;
