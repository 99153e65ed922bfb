import { doctorBounds } from '../bounds/doctor.ts';
import { ok, warning } from '../lib/finding.ts';
import type { Check } from './examination.ts';

export const checkOpenFiles: Check = async ({ openFiles }) => {
  if (openFiles === undefined) return ok('This system sets no limit.');
  const detail = `A process may have ${openFiles} files open here`;
  if (openFiles >= doctorBounds.openFiles) return ok(`${detail}.`);
  return warning(
    `${detail}, and each caller takes one.`,
    `Allow at least ${doctorBounds.openFiles} where the service is started: ulimit -n, or LimitNOFILE of systemd.`,
  );
};
