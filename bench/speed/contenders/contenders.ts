/** Who is measured: each gets its load for some seconds, and what that cost it is divided by the answers. */
import { setTimeout as wait } from 'node:timers/promises';
import { receiptsBounds } from '../../../packages/server/src/bounds/receipts.ts';
import { cpuSecondsOf, cpuSecondsOfFamily } from '../../lib/cpu.ts';
import { ask } from '../ask.ts';
import { brandsIn, type Size } from '../data.ts';
import { type LoadTool, type Request, untilInOrder } from '../load.ts';
import type { Listener } from '../processes.ts';
import { firstPages, middlePages, oneBalances, requirePages, unknownKeys } from '../requests.ts';
import { type EngineName, type Service, type Services, startService } from '../services.ts';
import { startFloor } from './floor.ts';

/** CPU time of a request in microseconds: of the process that answers, and of its database's. */
export interface Cost {
  readonly us?: number;
  readonly databaseUs?: number;
}

export interface Contender {
  /** By which goals find it. */
  readonly id: string;
  readonly name: string;
  /** Which sends the same bytes. */
  readonly floor?: FloorId;
  measure(seconds: number): Promise<Cost>;
}

export type FloorId = 'floor.brands' | 'floor.balance';

export interface Stage {
  readonly services: Services;
  readonly tool: LoadTool;
}

/** What a request leaves to be done later, as its receipt, is done by then. */
const settleMs = 2 * receiptsBounds.receiptsFlushMs;

interface Loaded {
  readonly id: string;
  readonly name: string;
  readonly floor?: FloorId;
  readonly listener: Listener;
  readonly requests: readonly Request[];
  readonly status?: number;
  /** Answers of another status that are in order, a second. */
  readonly othersPerSecond?: number;
  readonly databasePid?: number | undefined;
  after?(): void;
}

export function underLoad(tool: LoadTool, loaded: Loaded): Contender {
  const { id, name, floor, listener, requests, status = 200, othersPerSecond = 0, databasePid } = loaded;
  const { pid, port } = listener;
  const databaseSeconds = () => (databasePid === undefined ? 0 : cpuSecondsOfFamily(databasePid));
  return {
    id,
    name,
    ...(floor && { floor }),
    async measure(seconds) {
      const mostOthers = othersPerSecond * (seconds + 1);
      const { cost } = await untilInOrder({ name, status, mostOthers }, async () => {
        const before = [cpuSecondsOf(pid), databaseSeconds()] as const;
        const answers = await tool.play({ port, requests, status }, seconds);
        await wait(settleMs);
        const after = [cpuSecondsOf(pid), databaseSeconds()] as const;
        loaded.after?.();
        const perAnswer = (used: number) => (used * 1_000_000) / (answers.expected + answers.other);
        const us = perAnswer(after[0] - before[0]);
        const cost = databasePid === undefined ? { us } : { us, databaseUs: perAnswer(after[1] - before[1]) };
        return { ...answers, cost };
      });
      return cost;
    },
  };
}

/** The floors of a page of brands and of one balance: what the embedded service sends, from memory. */
export async function floors({ services, tool }: Stage): Promise<Contender[]> {
  const { port } = await services.service('embedded', 'small');
  const kinds = [
    { floor: 'floor.brands', name: 'floor: a page of brands', requests: firstPages(services.partners) },
    { floor: 'floor.balance', name: 'floor: one balance', requests: oneBalances(services.partners) },
  ] as const;
  const found: Contender[] = [];
  for (const { floor, name, requests } of kinds) {
    const listener = await startFloor(name, await ask(port, requests[0]!));
    found.push(underLoad(tool, { id: floor, name, floor, listener, requests }));
  }
  return found;
}

/** Ours on one engine: the first page of brands, the middle one, and one balance. */
export async function ours(stage: Stage, engine: EngineName): Promise<Contender[]> {
  const { partners, service } = stage.services;
  const listener = await service(engine, 'small');
  const [brands, balance] = ['floor.brands', 'floor.balance'] as const;
  const middle = await middleOf(stage, engine, 'small');
  const kinds = [
    { kind: 'first', name: 'brands, first page', floor: brands, requests: firstPages(partners) },
    { kind: 'middle', name: 'brands, middle page', floor: brands, requests: middle },
    { kind: 'balance', name: 'one balance', floor: balance, requests: oneBalances(partners) },
  ];
  for (const { requests } of kinds) await requirePages(listener.port, requests);
  return Promise.all(
    kinds.map(({ kind, ...loaded }) =>
      ofService(stage, engine, 'small', { id: `${engine}.${kind}`, listener, ...loaded }),
    ),
  );
}

/** The middle page where all partners together have a hundred times the brands. */
export async function ofLarge(stage: Stage, engine: EngineName): Promise<Contender> {
  const listener = await stage.services.service(engine, 'large');
  const requests = await middleOf(stage, engine, 'large');
  await requirePages(listener.port, requests);
  const name = `middle page of ${brandsIn.large.toLocaleString('en')} brands`;
  const loaded = { id: `${engine}.large`, name, floor: 'floor.brands', listener, requests } as const;
  return ofService(stage, engine, 'large', loaded);
}

/** Refused for a key that nobody has, and for a rate of one request a second. */
export async function refused(stage: Stage, engine: EngineName): Promise<Contender[]> {
  const { partners, database, service } = stage.services;
  const listener = await service(engine, 'small');
  const strict = await startService((await database(engine, 'small')).url, 1);
  const unknown = { name: 'refused, 401', listener, requests: unknownKeys(), status: 401 };
  const over = { name: 'refused, 429', listener: strict, requests: firstPages(partners), status: 429 };
  return [
    await ofService(stage, engine, 'small', { id: `${engine}.401`, ...unknown }),
    await ofService(stage, engine, 'small', {
      id: `${engine}.429`,
      ...over,
      othersPerSecond: partners.length,
    }),
  ];
}

async function ofService(
  { services, tool }: Stage,
  engine: EngineName,
  size: Size,
  loaded: Loaded & { readonly listener: Service },
): Promise<Contender> {
  const { pid: databasePid } = await services.database(engine, size);
  const { emptyLog: after } = loaded.listener;
  return underLoad(tool, { ...loaded, name: `${engine}: ${loaded.name}`, databasePid, after });
}

async function middleOf({ services }: Stage, engine: EngineName, size: Size): Promise<Request[]> {
  const { port } = await services.service(engine, size);
  return middlePages(port, services.partners, size);
}
