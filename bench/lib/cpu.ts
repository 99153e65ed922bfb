/** What a process has used of the processors, and of memory, by the kernel's own account. */
import { globSync, readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, whatever its own clock is. */
const ticksPerSecond = 100;

interface ProcessTimes {
  readonly parent: number;
  /** User and system time of all its threads, in seconds. */
  readonly ownSeconds: number;
  /** Of those of its children that have ended. */
  readonly endedSeconds: number;
}

/** Of the text of /proc/PID/stat. The name of a program stands in brackets, and may have any in itself. */
export function timesIn(stat: string): ProcessTimes {
  const [, parent, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const seconds = (first: number) => (Number(fields[first]) + Number(fields[first + 1])) / ticksPerSecond;
  return { parent: Number(parent), ownSeconds: seconds(9), endedSeconds: seconds(11) };
}

export function cpuSecondsOf(pid: number): number {
  return timesIn(readFileSync(`/proc/${pid}/stat`, 'utf8')).ownSeconds;
}

/** Of a server of Postgres with the processes of its connections, also those that have ended. */
export function cpuSecondsOfFamily(pid: number): number {
  let seconds = 0;
  for (const path of globSync('/proc/[0-9]*/stat')) {
    const times = timesOrNothing(path);
    if (path === `/proc/${pid}/stat`) seconds += times!.ownSeconds + times!.endedSeconds;
    else if (times?.parent === pid) seconds += times.ownSeconds;
  }
  return seconds;
}

function timesOrNothing(path: string): ProcessTimes | undefined {
  try {
    return timesIn(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // It ended while we were looking.
  }
}

interface Megabytes {
  readonly now: number;
  /** That it ever had. */
  readonly most: number;
}

/** Of the text of /proc/PID/status. It says kB and means 1,024 bytes; a megabyte has 1,000,000. */
export function megabytesIn(status: string): Megabytes {
  const megabytes = (name: string) => {
    const [, count] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
    return (Number(count) * 1_024) / 1_000_000;
  };
  return { now: megabytes('VmRSS'), most: megabytes('VmHWM') };
}

/** What it has in memory. */
export function megabytesOf(pid: number): Megabytes {
  return megabytesIn(readFileSync(`/proc/${pid}/status`, 'utf8'));
}
