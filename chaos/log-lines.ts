/** What an instance logged of a request: who asked for what, what came of it, and between which moments. */
import type { Span } from '../packages/testkit/fixtures/spans.ts';

interface LoggedRequest extends Span {
  readonly operation: unknown;
  readonly partnerId: unknown;
  readonly status: number;
}

/** None where the line is of something else. */
export function requestIn(line: string): LoggedRequest[] {
  const { operation, partner_id, status, time, duration_ms } = fieldsIn(line);
  if (typeof status !== 'number' || typeof duration_ms !== 'number') return [];
  const receivedMs = typeof time === 'number' ? time : Date.parse(String(time));
  return [{ operation, partnerId: partner_id, status, sentMs: receivedMs - duration_ms, receivedMs }];
}

/** None of a line that is for people, or that a kill has cut short. */
function fieldsIn(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}
