import { limiterBounds } from '@partner-network/common/bounds/service';
import { errorRecord } from '@partner-network/contract/errors';
import { Refusal } from '@partner-network/http/refusal';
import type { Limiter } from './port.ts';

/** Counts the request against its partner's rate, and adds the rate headers. Throws a 429 if it is over. */
export async function admit(
  limiter: Limiter | undefined,
  policy: string,
  partnerId: string,
  headers: string[],
): Promise<void> {
  if (limiter === undefined) return;
  const rate = limiter.ratePerSecond;
  const { isAdmitted, left, untilMoreMs } = await limiter.admit(partnerId);
  const seconds = Math.ceil(untilMoreMs / 1_000);
  headers.push('RateLimit-Policy', `"${policy}";q=${rate};w=${limiterBounds.rateWindowMs / 1_000}`);
  headers.push('RateLimit', `"${policy}";r=${left};t=${seconds}`);
  if (isAdmitted) return;
  throw new Refusal(
    [errorRecord('RATE_LIMITED', { rate })],
    ['Retry-After', String(seconds), 'Retry-After-Ms', String(Math.ceil(untilMoreMs))],
  );
}
