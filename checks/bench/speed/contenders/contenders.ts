/** The contenders. A contender gets load for some seconds; its cost is its CPU time per answer. */
import { setTimeout as wait } from 'node:timers/promises';
import { receiptsBounds } from '../../../../packages/common/src/bounds/service.ts';
import { cpuSecondsOf, cpuSecondsOfFamily } from '../../lib/cpu.ts';
import type { Generator } from '../../lib/load.ts';
import { ask } from '../ask.ts';
import { type Load, playLoad } from '../load.ts';
import { firstPages, middlePages, oneBalances, requirePages, unknownKeys } from '../requests.ts';
import {
  brandsIn,
  type EngineName,
  type Service,
  type Services,
  type Size,
  startService,
} from '../services.ts';
import { startFloor } from './floor.ts';

/** CPU microseconds per request, of the process that answers and of its database. */
export interface Cost {
  readonly us?: number;
  readonly databaseUs?: number;
}

export interface Contender {
  /** Goals refer to it by this id. */
  readonly id: string;
  readonly name: string;
  /** The floor that sends the same bytes. */
  readonly floor?: FloorId;
  measure(seconds: number): Promise<Cost>;
}

export type FloorId = 'floor.brands' | 'floor.balance';

export interface Stage {
  readonly services: Services;
  readonly generator: Generator;
}

/** Work that a request leaves for later, such as its receipt, is done after this time and counts. */
const settleMs = 2 * receiptsBounds.flushMs;

interface Loaded extends Omit<Load, 'status'> {
  readonly id: string;
  readonly floor?: FloorId;
  readonly status?: number;
  readonly databasePid?: number | undefined;
  after?(): void;
}

export function underLoad(generator: Generator, { id, floor, after, ...loaded }: Loaded): Contender {
  const { name, listener, databasePid } = loaded;
  const secondsUsed = () => ({
    own: cpuSecondsOf(listener.pid),
    database: databasePid === undefined ? 0 : cpuSecondsOfFamily(databasePid),
  });
  return {
    id,
    name,
    ...(floor && { floor }),
    async measure(seconds) {
      let before = secondsUsed();
      const answers = await playLoad(generator, { status: 200, ...loaded }, seconds, () => {
        before = secondsUsed();
      });
      await wait(settleMs);
      const { own, database } = secondsUsed();
      after?.();
      const us = ((own - before.own) * 1_000_000) / answers;
      const databaseUs = ((database - before.database) * 1_000_000) / answers;
      return databasePid === undefined ? { us } : { us, databaseUs };
    },
  };
}

/** The floors of a page of brands and of one balance: they send one of our answers from memory. */
export async function floors({ services, generator }: Stage): Promise<Contender[]> {
  const { port } = await services.service('embedded', 'small');
  const kinds = [
    { id: 'floor.brands', name: 'floor: a page of brands', requests: firstPages(services.partners) },
    { id: 'floor.balance', name: 'floor: one balance', requests: oneBalances(services.partners) },
  ] as const;
  const found: Contender[] = [];
  for (const { id, name, requests } of kinds) {
    const listener = await startFloor(name, await ask(port, requests[0]!));
    found.push(underLoad(generator, { id, name, floor: id, listener, requests }));
  }
  return found;
}

/** Our service on one engine: the first page of brands, the middle pages, and one balance. */
export async function ours(stage: Stage, engine: EngineName): Promise<Contender[]> {
  const { partners, service } = stage.services;
  const listener = await service(engine, 'small');
  const middle = await middlePages(listener.port, partners, 'small');
  const kinds = [
    { kind: 'first', name: 'brands, first page', floor: 'floor.brands', requests: firstPages(partners) },
    { kind: 'middle', name: 'brands, middle page', floor: 'floor.brands', requests: middle },
    { kind: 'balance', name: 'one balance', floor: 'floor.balance', requests: oneBalances(partners) },
  ] as const;
  for (const { requests } of kinds) await requirePages(listener.port, requests);
  return Promise.all(
    kinds.map(({ kind, ...loaded }) =>
      ofService(stage, engine, 'small', { id: `${engine}.${kind}`, listener, ...loaded }),
    ),
  );
}

/** The middle pages in a database with a hundred times the brands. */
export async function ofLarge(stage: Stage, engine: EngineName): Promise<Contender> {
  const { partners, service } = stage.services;
  const listener = await service(engine, 'large');
  const requests = await middlePages(listener.port, partners, 'large');
  await requirePages(listener.port, requests);
  const name = `middle page of ${brandsIn.large.toLocaleString('en')} brands`;
  const loaded = { id: `${engine}.large`, name, floor: 'floor.brands', listener, requests } as const;
  return ofService(stage, engine, 'large', loaded);
}

/** Requests with an unknown key, and requests above a rate of one a second. */
export async function refused(stage: Stage, engine: EngineName): Promise<Contender[]> {
  const { partners, database, service } = stage.services;
  const listener = await service(engine, 'small');
  const strict = await startService((await database(engine, 'small')).url, 1);
  return [
    await ofService(stage, engine, 'small', {
      id: `${engine}.401`,
      name: 'refused, 401',
      listener,
      requests: unknownKeys(),
      status: 401,
    }),
    await ofService(stage, engine, 'small', {
      id: `${engine}.429`,
      name: 'refused, 429',
      listener: strict,
      requests: firstPages(partners),
      status: 429,
      othersPerSecond: partners.length,
    }),
  ];
}

async function ofService(
  { services, generator }: Stage,
  engine: EngineName,
  size: Size,
  loaded: Loaded & { readonly listener: Service },
): Promise<Contender> {
  const { pid: databasePid } = await services.database(engine, size);
  const { emptyLog: after } = loaded.listener;
  return underLoad(generator, { ...loaded, name: `${engine}: ${loaded.name}`, databasePid, after });
}
