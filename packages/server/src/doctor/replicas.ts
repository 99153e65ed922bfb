import { type Finding, ok } from '../finding.ts';
import type { Check } from './examination.ts';

const gravest = ['failed', 'warning', 'ok'] as const;

/** One finding of all: as bad as the worst of them, and telling of each. */
export const checkReplicas: Check = async ({ replicas }) => {
  const findings = await replicas;
  if (findings.length === 0) return ok('None are set.');
  const remedies = new Set(findings.flatMap(({ remedy }) => remedy ?? []));
  const together: Finding = {
    status: gravest.find((status) => findings.some((finding) => finding.status === status))!,
    detail: findings.map(({ detail }) => detail).join(' '),
  };
  return remedies.size === 0 ? together : { ...together, remedy: [...remedies].join(' ') };
};
