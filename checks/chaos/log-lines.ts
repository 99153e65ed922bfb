/** The request in a line of an instance's log; empty for other lines. */
export function requestIn(line: string) {
  const { operation, partner_id, status, time, duration_ms } = fieldsIn(line);
  if (typeof status !== 'number' || typeof duration_ms !== 'number') return [];
  const receivedMs = typeof time === 'number' ? time : Date.parse(String(time));
  return [{ operation, partnerId: partner_id, status, sentMs: receivedMs - duration_ms, receivedMs }];
}

/** Empty for a line that is not JSON, or that a kill has cut off. */
function fieldsIn(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}
