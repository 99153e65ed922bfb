import { randomBytes } from 'node:crypto';

let lastMs = 0;
let sequence = 0;

/** 48 bits of time, 16 of sequence, 64 random bits, in hex. Ids of one process sort in creation order. */
export function newId(prefix: string, nowMs = Date.now()): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    sequence = 0;
  } else if (++sequence > 0xffff) {
    // More than 65,536 ids in a millisecond, or a clock set back: run ahead of the clock, never repeat.
    lastMs += 1;
    sequence = 0;
  }
  return formatId(prefix, lastMs, sequence, randomBytes(8).toString('hex'));
}

export function formatId(prefix: string, timeMs: number, sequence: number, randomHex: string): string {
  const time = timeMs.toString(16).padStart(12, '0');
  return `${prefix}_${time}${sequence.toString(16).padStart(4, '0')}${randomHex}`;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text can be the id of a request. */
export function isRequestId(text: string): boolean {
  return uuid.test(text);
}

/** The time in the id of a request, in milliseconds. Undefined if we did not make the id. */
export function msOfRequestId(id: string): number | undefined {
  const isOurs = isRequestId(id) && id[14] === '7';
  return isOurs ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
}
