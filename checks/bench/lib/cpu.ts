/** CPU time and memory of a process, as the Linux kernel reports them in /proc. */
import { globSync, readFileSync } from 'node:fs';

export const withoutProc =
  process.platform !== 'linux' && 'This needs Linux, whose /proc reports the CPU time of a process.';

/** /proc/PID/stat counts in units of 10 ms on every machine. */
const ticksPerSecond = 100;

/**
 * Parses /proc/PID/stat: the CPU time of all threads, and of children that have ended. The program's name is
 * in brackets and may itself contain brackets.
 */
export function timesIn(stat: string) {
  const [, parent, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const seconds = (first: number) => (Number(fields[first]) + Number(fields[first + 1])) / ticksPerSecond;
  return { parent: Number(parent), ownSeconds: seconds(9), endedSeconds: seconds(11) };
}

export function cpuSecondsOf(pid: number): number {
  return timesIn(readFileSync(`/proc/${pid}/stat`, 'utf8')).ownSeconds;
}

/** CPU time of a process and all below it, running and ended: of a Postgres server with its connections. */
export function cpuSecondsOfFamily(pid: number): number {
  const running = new Map(
    globSync('/proc/[0-9]*/stat').flatMap((path) => {
      const times = timesIfRunning(path);
      return times === undefined ? [] : [[Number(path.split('/')[2]), times] as const];
    }),
  );
  const isOwn = (one: number): boolean =>
    one === pid || (running.has(one) && isOwn(running.get(one)!.parent));
  let seconds = 0;
  for (const [one, times] of running) if (isOwn(one)) seconds += times.ownSeconds + times.endedSeconds;
  return seconds;
}

/**
 * CPU time of the machine: of all processes, of interrupts, and what its host took away. Without interrupts,
 * the share of other processes was below zero.
 */
export function cpuSecondsOfMachine(): number {
  const [user, nice, system, , , interrupts, softInterrupts, stolen] = readFileSync('/proc/stat', 'utf8')
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user! + nice! + system! + interrupts! + softInterrupts! + stolen!) / ticksPerSecond;
}

function timesIfRunning(path: string) {
  try {
    return timesIn(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // It ended after the folder was listed.
  }
}

/** The resident memory of a process, now and at most. Converts kB of 1,024 bytes to MB of 10^6. */
export function megabytesOf(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string) => {
    const [, count] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
    return (Number(count) * 1_024) / 1_000_000;
  };
  return { now: megabytes('VmRSS'), most: megabytes('VmHWM') };
}
