/** A watch of Redis on a clock and a connection of our own. */
import { EventEmitter } from 'node:events';
import type { TestContext } from 'node:test';
import type { Redis } from 'ioredis';
import { watchedLog } from '../../../../testkit/watch/logs.ts';
import { watchRedis } from '../../../src/limiter/redis/watch.ts';

/** Lets all that is settled be noticed, and what was put off to the end of a turn; timers stand still. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
}

export function onClock(t: TestContext, startMs = 50_000) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const clock = { ms: startMs };
  t.mock.method(performance, 'now', () => clock.ms);
  const pass = async (ms: number) => {
    const untilMs = clock.ms + ms;
    while (clock.ms < untilMs) {
      // In steps of 10 ms, to which all that happens by itself keeps.
      const stepMs = Math.min(10 - (clock.ms % 10), untilMs - clock.ms);
      clock.ms += stepMs;
      t.mock.timers.tick(stepMs);
      await settle();
    }
  };
  return { clock, pass };
}

interface Heartbeat {
  readonly atMs: number;
  readonly isApart: boolean;
  answer(instances: number): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** A watch of a Redis that answers heartbeats while `stage.instances` is set, and by hand otherwise. */
export function onWatch(t: TestContext, fewest = 1) {
  const { clock, pass } = onClock(t);
  const stage = { instances: undefined as number | undefined, reconnects: [] as [number, boolean][] };
  const heartbeats: Heartbeat[] = [];
  const redis = Object.assign(new EventEmitter(), {
    status: 'connecting',
    disconnect: (isToReconnect: boolean) => stage.reconnects.push([clock.ms, isToReconnect]),
  });
  const heartbeat = (isApart: boolean): Promise<number> => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    heartbeats.push({
      atMs: clock.ms,
      isApart,
      answer: async (instances) => {
        resolve(instances);
        await settle();
      },
      fail: async (error) => {
        reject(error);
        await settle();
      },
    });
    if (stage.instances !== undefined) resolve(stage.instances);
    return promise;
  };
  const { log, logs } = watchedLog();
  const watch = watchRedis(redis as unknown as Redis, heartbeat, fewest, log);
  t.after(watch.stop);
  const connect = async () => {
    redis.emit('connect');
    redis.status = 'ready';
    redis.emit('ready');
    await settle();
  };
  const close = async () => {
    redis.status = 'close';
    redis.emit('close');
    await settle();
  };
  const told = () =>
    logs()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .map(({ level, reason, msg }) => [level, reason, msg]);
  return { clock, pass, stage, heartbeats, redis, watch, connect, close, told };
}
