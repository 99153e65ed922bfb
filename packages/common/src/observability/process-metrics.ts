import { observabilityBounds } from '../bounds/observability.ts';
import { ownVersion } from '../version.ts';
import { createHistogram, type Metric, metric, metricOf } from './metric.ts';

const delaysSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Memory, CPU time, start time and event loop delay of this process. */
export function watchThisProcess() {
  const delays = createHistogram(delaysSeconds);
  const stop = measureDelays((seconds) => delays.observe(seconds));
  return {
    metrics: [
      metricOf('partner_network_event_loop_delay_seconds', () => delays.read()),
      metric('process_resident_memory_bytes', () => process.memoryUsage.rss()),
      metric('process_cpu_seconds_total', () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      }),
      metric('process_start_time_seconds', () => performance.timeOrigin / 1_000),
    ],
    close: stop,
  };
}

/**
 * Reports at every tick how late it is. Skipped ticks are late, too, each by one tick less than the previous
 * one. Otherwise a standstill of a second would count as one tick, and a second without delay as ten.
 */
function measureDelays(report: (seconds: number) => void): () => void {
  const tickMs = observabilityBounds.eventLoopTickMs;
  let dueMs = performance.now() + tickMs;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    let lateMs = Math.max(nowMs - dueMs, 0);
    do {
      report(lateMs / 1_000);
      lateMs -= tickMs;
    } while (lateMs > 0);
    dueMs = nowMs + tickMs;
  }, tickMs).unref();
  return () => clearInterval(timer);
}

/** A metric that is always 1. Its labels are our version, Node's, the environment and the engine. */
export function buildInfo(environment: string, engine: string): Metric {
  const labels = { version: ownVersion(), node: process.versions.node, environment, engine };
  return metricOf('partner_network_build_info', () => [{ labels, value: 1 }]);
}
