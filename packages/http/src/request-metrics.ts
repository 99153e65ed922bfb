import { createHistogram, type Histogram, metricOf } from '@partner-network/common/observability/metric';
import { listings } from '@partner-network/contract/operations';
import { splitTarget } from './request.ts';

export type RequestMetrics = ReturnType<typeof createRequestMetrics>;

/** Most pages take less than a millisecond, and no answer takes longer than 2 s. */
const durationsSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

/** The label for everything else: the reference, files, unknown paths, and data that is not HTTP. */
const other = 'other';

const operationOfPath = new Map(listings.map(({ id, path }) => [path, id]));

/** One counter for each operation and code, or status where there is no code: a hundred at most. */
interface Answers {
  readonly labels: { readonly operation: string; readonly status: string; readonly code?: string };
  value: number;
}

/** Refusals are quick: in the same histogram they would hide slow pages. */
type Outcome = 'answered' | 'refused' | 'failed';

/** Counts responses for operators, never by partner. `slower` has further durations. */
export function createRequestMetrics(
  ids: readonly string[] = listings.map(({ id }) => id),
  slower: readonly number[] = [],
) {
  const seconds = [...durationsSeconds, ...slower];
  const answers = new Map<string, Answers>();
  const durations = new Map<string, Record<Outcome, Histogram>>();
  for (const operation of [...ids, other]) {
    durations.set(operation, {
      answered: createHistogram(seconds),
      refused: createHistogram(seconds),
      failed: createHistogram(seconds),
    });
  }

  function answersOf(operation: string, status: number, code: string | undefined): Answers {
    const name = `${operation} ${status} ${code}`;
    let found = answers.get(name);
    if (found === undefined) {
      const labels = { operation, status: String(status), ...(code !== undefined && { code }) };
      found = { labels, value: 0 };
      answers.set(name, found);
    }
    return found;
  }

  // These start at 0: a counter that first appears with 1 would hide the first fault from an alert.
  for (const id of ids) {
    answersOf(id, 200, undefined);
    answersOf(id, 500, 'INTERNAL_SERVER_ERROR');
    answersOf(id, 503, 'SERVICE_UNAVAILABLE');
  }

  /** Counts a response with the code of its first error. `seconds` is absent if no request was parsed. */
  function count(operation = other, status: number, code?: string, seconds?: number): void {
    answersOf(operation, status, code).value += 1;
    const outcome: Outcome = status < 400 ? 'answered' : status < 500 ? 'refused' : 'failed';
    if (seconds !== undefined) durations.get(operation)![outcome].observe(seconds);
  }

  return {
    count,
    /** Counts the 503 of a request that was shed before more than its target was read. */
    countShed: (target: string) =>
      count(operationOfPath.get(splitTarget(target).path), 503, 'SERVICE_UNAVAILABLE'),
    metrics: [
      metricOf('partner_network_requests_total', () => [...answers.values()]),
      metricOf('partner_network_request_duration_seconds', () =>
        [...durations].flatMap(([operation, histograms]) =>
          Object.entries(histograms).flatMap(([outcome, { read }]) => read({ operation, outcome })),
        ),
      ),
    ],
  };
}
