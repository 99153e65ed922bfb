/** What a look at something came to, for an operator: a sentence, and where there is a fault what to do. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly detail: string;
  readonly remedy?: string;
}

export function ok(detail: string): Finding {
  return { status: 'ok', detail };
}

/** It works, or will, but not as well as it should, or not for long. */
export function warning(detail: string, remedy: string): Finding {
  return { status: 'warning', detail, remedy };
}

export function failed(detail: string, remedy: string): Finding {
  return { status: 'failed', detail, remedy };
}

const gravest = ['failed', 'warning', 'ok', 'skipped'] as const;

/** One finding of all: as bad as the worst of them, and telling of each. */
export function asOne(findings: readonly Finding[]): Finding {
  const remedies = new Set(findings.flatMap(({ remedy }) => remedy ?? []));
  const together: Finding = {
    status: gravest.find((status) => findings.some((finding) => finding.status === status))!,
    detail: findings.map(({ detail }) => detail).join(' '),
  };
  return remedies.size === 0 ? together : { ...together, remedy: [...remedies].join(' ') };
}

/** It could not be looked at. */
export function skipped(detail: string): Finding {
  return { status: 'skipped', detail };
}
