import { readFileSync } from 'node:fs';
import { httpBounds } from '../bounds/http.ts';

/** How many files this process may have open. Node has raised that as far as it may when it started. */
export function openFileLimit(): number | undefined {
  return limitOfLinux() ?? limitOfReport();
}

function limitOfLinux(): number | undefined {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/** Known on every system, and takes 27 ms to write, of which the limit is a line. */
function limitOfReport(): number | undefined {
  // Names of the network would be asked for, and may take long to answer.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const limit = report.userLimits?.open_files?.soft;
  return typeof limit === 'number' ? limit : undefined;
}

/** How many operators there is room for. */
export function operatorsWithin(openFiles: number | undefined): number {
  const files = openFiles ?? Number.POSITIVE_INFINITY;
  return Math.min(httpBounds.operationsConnections, Math.floor(files * httpBounds.operatorsShare));
}

/** How many callers there is room for. */
export function connectionsWithin(openFiles: number | undefined): number {
  const files = openFiles ?? Number.POSITIVE_INFINITY;
  return Math.min(httpBounds.connections, Math.floor(files * httpBounds.callersShare));
}
