import { readFileSync } from 'node:fs';
import { httpBounds } from '../bounds/http.ts';

/** The number of files that this process may open. Node has raised it as far as allowed at its start. */
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

/** Works on every system, but takes 27 ms: Node writes a whole report. */
function limitOfReport(): number | undefined {
  // The report would look up host names, which may take long.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const limit = report.userLimits?.open_files?.soft;
  return typeof limit === 'number' ? limit : undefined;
}

/** The number of connections of operators that this limit of open files allows. */
export function operatorsWithin(openFiles = Number.POSITIVE_INFINITY): number {
  return Math.min(httpBounds.operationsConnections, Math.floor(openFiles * httpBounds.operatorsShare));
}

/** The number of connections of clients that this limit of open files allows. */
export function connectionsWithin(openFiles = Number.POSITIVE_INFINITY): number {
  return Math.min(httpBounds.connections, Math.floor(openFiles * httpBounds.callersShare));
}
