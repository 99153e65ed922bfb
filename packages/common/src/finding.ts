/** The result of one check by `doctor`: a sentence, and what to do if something is wrong. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly detail: string;
  readonly remedy?: string;
}

export const ok = (detail: string): Finding => ({ status: 'ok', detail });
export const failed = (detail: string, remedy: string): Finding => ({ status: 'failed', detail, remedy });
/** It works, but not as well as it should, or not for long. */
export const warning = (detail: string, remedy: string): Finding => ({ status: 'warning', detail, remedy });
/** The check could not be made. */
export const skipped = (detail: string): Finding => ({ status: 'skipped', detail });

/** Joins findings: the worst status, all details, and each remedy once. */
export function asOne(findings: readonly Finding[]): Finding {
  const remedies = new Set(findings.flatMap(({ remedy }) => remedy ?? []));
  const statuses = findings.map(({ status }) => status);
  const status = (['failed', 'warning'] as const).find((worst) => statuses.includes(worst)) ?? 'ok';
  const detail = findings.map((finding) => finding.detail).join(' ');
  return remedies.size === 0 ? { status, detail } : { status, detail, remedy: [...remedies].join(' ') };
}
