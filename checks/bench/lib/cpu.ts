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

/** CPU time of a process and its children, running and ended: a Postgres server with its connections. */
export function cpuSecondsOfFamily(pid: number): number {
  let seconds = timesIn(readFileSync(`/proc/${pid}/stat`, 'utf8')).endedSeconds;
  for (const path of globSync('/proc/[0-9]*/stat')) {
    const times = timesIfRunning(path);
    const isOwn = path === `/proc/${pid}/stat` || times?.parent === pid;
    if (isOwn) seconds += times?.ownSeconds ?? 0;
  }
  return seconds;
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
