/** A time in stored form, except 29 February. Skips the check with Date, which takes ten times as long. */
const normalTime = new RegExp(
  '^(?!0000)[0-9]{4}-' +
    '(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)' +
    'T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9][.][0-9]{3}Z$',
);
const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)t(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:z|\+00:00)$/i;

/**
 * Converts RFC 3339 in UTC to the form that is stored and sent, `2026-01-31T08:00:00.000Z`. Undefined for any
 * other text. Cuts fractions to milliseconds. Rejects leap seconds, and year 0000, which Postgres lacks.
 */
export function normalizeTime(text: string): string | undefined {
  if (normalTime.test(text)) return text;
  const parts = rfc3339.exec(text);
  if (parts === null || parts[1] === '0000') return undefined;
  const [, year, month, day, hour, minute, second, fraction = ''] = parts;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const normal = `${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}Z`;
  const instant = new Date(normal);
  // Date turns 31 April into 1 May and 24:00 into the next day: a time that does not exist comes out changed.
  return !Number.isNaN(instant.getTime()) && instant.toISOString() === normal ? normal : undefined;
}

/** The last time that can be stored: a year has four digits. */
export const latestTimeMs = Date.parse('9999-12-31T23:59:59.999Z');

export function toTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Whether something with this expiry has expired. Without an expiry, it never does. */
export function isPast(time: string | undefined, nowMs = Date.now()): boolean {
  return time !== undefined && Date.parse(time) <= nowMs;
}

const duration = /^(\d{1,9})(s|m|h|d)$/;
const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration such as `90s`, `30m`, `24h` or `7d`. Undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const parts = duration.exec(text);
  return parts === null ? undefined : Number(parts[1]) * unitMs[parts[2] as keyof typeof unitMs];
}

/** A duration in one whole unit, for a sentence: `5 s`, `90 s`, `10 min`, `36 h`, `3 days`. */
export function inWords(ms: number): string {
  const units = [unitMs.s, unitMs.m, unitMs.h, unitMs.d].map((unit) => Math.round(ms / unit));
  const [seconds = 0, minutes = 0, hours = 0, days] = units;
  if (seconds < 120) return `${Math.max(seconds, 1)} s`;
  if (minutes < 120) return `${minutes} min`;
  return hours < 48 ? `${hours} h` : `${days} days`;
}
