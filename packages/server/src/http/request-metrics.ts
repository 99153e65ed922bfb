import { operations } from '@partner-network/contract/operations';
import { createHistogram, type Histogram, type Metric, type Reading } from '../observability/metric.ts';
import { splitTarget } from './target.ts';

/** What operators can see of requests: never whose they are. */
export interface RequestMetrics {
  /** An answer, with the code of its first error. Where no request came of what was sent, none took time. */
  count(operation: string | undefined, status: number, code?: string, seconds?: number): void;
  /** An answer to one that was turned away before anybody looked at more than its target. */
  countTurnedAway(target: string): void;
  readonly metrics: readonly Metric[];
}

/** Most pages take less than a millisecond of ours, and no answer longer than 2 s. */
const durationsSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

/** What is no operation: the reference, files, paths that there are not, and what is not HTTP. */
const other = 'other';

const operationOfPath = new Map(operations.map(({ id, path }) => [path, id]));

/** Operations come from the contract and codes from its catalogue: there are some hundred at most. */
interface Answers {
  readonly labels: { readonly operation: string; readonly status: string; readonly code?: string };
  count: number;
}

export function createRequestMetrics(): RequestMetrics {
  const answers = new Map<string, Map<string | number, Answers>>();
  const durations = new Map<string, Record<Outcome, Histogram>>();
  for (const name of [...operations.map(({ id }) => id), other]) {
    answers.set(name, new Map());
    durations.set(name, histogramOfEachOutcome());
  }

  function answersOf(operation: string, status: number, code: string | undefined): Answers {
    const ofOperation = answers.get(operation)!;
    let found = ofOperation.get(code ?? status);
    if (found === undefined) {
      found = {
        labels: { operation, status: String(status), ...(code !== undefined && { code }) },
        count: 0,
      };
      ofOperation.set(code ?? status, found);
    }
    return found;
  }

  // An alert compares a count with what it was: one that begins at 1 would hide the first fault.
  for (const { id } of operations) {
    answersOf(id, 200, undefined);
    answersOf(id, 500, 'INTERNAL_SERVER_ERROR');
    answersOf(id, 503, 'SERVICE_UNAVAILABLE');
  }

  function count(operation = other, status: number, code?: string, seconds?: number): void {
    answersOf(operation, status, code).count += 1;
    if (seconds !== undefined) durations.get(operation)![outcomeOf(status)].observe(seconds);
  }

  return {
    count,
    countTurnedAway: (target) =>
      count(operationOfPath.get(splitTarget(target).path), 503, 'SERVICE_UNAVAILABLE'),
    metrics: [
      {
        name: 'partner_network_requests_total',
        help: 'Answers to requests, by operation, status and the code of the first error.',
        type: 'counter',
        labels: ['operation', 'status', 'code'],
        read: () => [...answers.values()].flatMap((some) => [...some.values()].map(asReading)),
      },
      {
        name: 'partner_network_request_duration_seconds',
        help: 'How long requests took, from their head to the last byte given to the system.',
        type: 'histogram',
        labels: ['operation', 'outcome'],
        read: () => [...durations].flatMap(([operation, some]) => readingsOf(operation, some)),
      },
    ],
  };
}

function asReading({ labels, count }: Answers): Reading {
  return { labels, value: count };
}

/** Refusals are quick, and would hide that pages are slow if they counted together. */
const outcomes = ['answered', 'refused', 'failed'] as const;
type Outcome = (typeof outcomes)[number];

function outcomeOf(status: number): Outcome {
  if (status < 400) return 'answered';
  return status < 500 ? 'refused' : 'failed';
}

function histogramOfEachOutcome(): Record<Outcome, Histogram> {
  const [answered, refused, failed] = outcomes.map(() => createHistogram(durationsSeconds));
  return { answered: answered!, refused: refused!, failed: failed! };
}

function readingsOf(operation: string, histograms: Record<Outcome, Histogram>): Reading[] {
  return outcomes.flatMap((outcome) => histograms[outcome].read({ operation, outcome }));
}
