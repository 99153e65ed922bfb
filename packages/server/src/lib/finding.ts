/** The result of one check by `doctor`: a sentence, and what to do if something is wrong. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly detail: string;
  readonly remedy?: string;
}

export function ok(detail: string): Finding {
  return { status: 'ok', detail };
}

/** It works, but not as well as it should, or not for long. */
export function warning(detail: string, remedy: string): Finding {
  return { status: 'warning', detail, remedy };
}

export function failed(detail: string, remedy: string): Finding {
  return { status: 'failed', detail, remedy };
}

/** The check could not be made. */
export function skipped(detail: string): Finding {
  return { status: 'skipped', detail };
}

const worstFirst = ['failed', 'warning', 'ok', 'skipped'] as const;

/** Joins findings: the worst status, all details, and each remedy once. */
export function asOne(findings: readonly Finding[]): Finding {
  const remedies = new Set(findings.flatMap(({ remedy }) => remedy ?? []));
  const status = worstFirst.find((each) => findings.some((finding) => finding.status === each))!;
  const detail = findings.map((finding) => finding.detail).join(' ');
  return remedies.size === 0 ? { status, detail } : { status, detail, remedy: [...remedies].join(' ') };
}
