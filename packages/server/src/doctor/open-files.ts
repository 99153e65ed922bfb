import { bounds } from '../bounds.ts';
import { ok, warning } from '../finding.ts';
import type { Check } from './examination.ts';

export const checkOpenFiles: Check = async ({ openFiles }) => {
  if (openFiles === undefined) return ok('This system sets no limit.');
  const detail = `A process may have ${openFiles} files open here`;
  if (openFiles >= bounds.openFiles) return ok(`${detail}.`);
  return warning(
    `${detail}, and each caller takes one.`,
    `Allow at least ${bounds.openFiles} where the service is started: ulimit -n, or LimitNOFILE of systemd.`,
  );
};

/** Node raises its own limit as far as it may when it starts, so this is what `serve` would get. */
export function openFileLimit(): number | undefined {
  // Names of the network would be asked for, and may take long to answer.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const limit = report.userLimits?.open_files?.soft;
  return typeof limit === 'number' ? limit : undefined;
}
