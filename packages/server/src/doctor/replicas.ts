import { asOne, ok } from '../lib/finding.ts';
import type { Check } from './examination.ts';

export const checkReplicas: Check = async ({ replicas }) => {
  const findings = await replicas;
  return findings.length === 0 ? ok('None are set.') : asOne(findings);
};
