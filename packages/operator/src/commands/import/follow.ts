/** Imports a feed from standard input until it ends. */
import { ingestBounds } from '@partner-network/common/bounds/operator';
import type { Output, Report } from '@partner-network/common/command-line/command';
import { createLog } from '@partner-network/common/observability/log';
import { metric, metricOf, readMetrics } from '@partner-network/common/observability/metric';
import { onStop } from '@partner-network/common/process';
import { startHealth } from '@partner-network/http/health';
import type { ImportAudit, ImportKind, Store } from '@partner-network/store/port';
import { createFeedStatus, type FeedStatus, followRecords, withLine } from '../../ingest/follow.ts';
import { readJsonLines } from '../../ingest/json.ts';
import { openRejectedFile } from '../../ingest/output-files.ts';
import type { RecordOptions } from '../../ingest/record-check.ts';
import { createRetry, type Retry } from '../../ingest/retry.ts';
import { bytesOf, standardInput } from './input.ts';
import { remarkErrors, reportOf } from './report.ts';

interface FollowChoices {
  readonly records: RecordOptions;
  readonly audit: ImportAudit;
  readonly rejectedPath: string | undefined;
  /** The port of the metrics. Undefined: none are served. */
  readonly opsPort: number | undefined;
  readonly opsHost: string;
}

/** Imports until standard input ends or a signal arrives; lines that have arrived by then are committed. */
export async function follow(store: Store, choices: FollowChoices, output: Output): Promise<Report> {
  const { records, audit, opsHost: host, opsPort: port, rejectedPath } = choices;
  const status = createFeedStatus();
  const stop = new AbortController();
  const retry = createRetry({ stop, report: output.remark });
  const addAudit = auditing(store, audit, retry, status);
  await using opened = new AsyncDisposableStack();
  const rejectedFile = rejectedPath === undefined ? undefined : openRejectedFile(rejectedPath);
  opened.defer(() => rejectedFile?.close());
  opened.defer(onStop(() => setTimeout(() => stop.abort(), ingestBounds.followCommitMs)));
  if (port !== undefined)
    opened.defer(await serveMetrics(store, { host, port }, records.kind, status, output));
  await addAudit('start').catch((error) => {
    throw stop.signal.aborted ? withLine(error, 0) : error;
  });
  const repeat = (ms: number, work: () => void) => {
    const timer = setInterval(work, ms);
    opened.defer(() => clearInterval(timer));
  };
  let isAdding = false;
  repeat(ingestBounds.followAuditMs, async () => {
    // One entry at a time: an outage may last for hours.
    if (isAdding) return;
    isAdding = true;
    await addAudit('hour').catch(({ message }) => output.remark(message));
    isAdding = false;
  });
  repeat(ingestBounds.followLagMs, () => {
    const isRecent = Date.now() - (status.committedMs() ?? 0) <= ingestBounds.followLagMs;
    const lag = (status.lagMs() / 1_000).toFixed(1);
    if (isRecent) output.remark(`Lag: ${lag} s from the newest line to its commit.`);
  });

  const lines = readJsonLines(bytesOf(standardInput, { stop: stop.signal }));
  const following = followRecords(store, lines, {
    ...records,
    stop,
    retry,
    status,
    rejectedFile,
    warn: ({ line, errors }) => remarkErrors(output, 'warning: ', line, errors),
    rejected: (line, errors, id) => remarkErrors(output, '', line, errors, id),
  });
  // The failure of the feed is reported, and not that of its last entry.
  const report = await following.catch(async (error) => {
    await addAudit('end').catch(() => {});
    throw error;
  });
  await addAudit('end');
  return reportOf(report);
}

/** Returns a function that adds an entry to the audit log: at the start, at the end and once an hour. */
function auditing(
  store: Store,
  { target, source, startedMs, ...by }: ImportAudit,
  retry: Retry,
  status: FeedStatus,
) {
  return (feed: 'start' | 'hour' | 'end') => {
    const so_far = { ...status.counts, duration_ms: Date.now() - startedMs };
    const details = { source, feed, ...(feed !== 'start' && so_far) };
    return retry(() => store.addAudit(by, target, details));
  };
}

async function serveMetrics(
  store: Store,
  { host, port }: { readonly host: string; readonly port: number },
  kind: ImportKind,
  { counts, lagMs, committedMs }: FeedStatus,
  output: Output,
) {
  const metrics = [
    metric('partner_network_import_lag_seconds', () => ({ [kind]: lagMs() / 1_000 })),
    metricOf('partner_network_last_commit_timestamp_seconds', () =>
      [committedMs() ?? []].flat().map((ms) => ({ labels: { kind, source: 'feed' }, value: ms / 1_000 })),
    ),
    metricOf('partner_network_import_lines_total', () =>
      Object.entries(counts).map(([outcome, value]) => ({ labels: { kind, outcome }, value })),
    ),
  ];
  const read = async () => readMetrics(metrics);
  const { url, close } = await startHealth(host, port, store.ping, read, createLog('warn'));
  output.remark(`Metrics at ${url}/metrics.`);
  return close;
}
