import { metricCatalogue } from '../../packages/common/src/observability/catalogue.ts';
import { code, table, withCode } from './markdown.ts';

const introduction = `# Metrics

Every metric of the service, in the text format of Prometheus at \`/metrics\` on the operations
address. [Observe the service](../../how-to/operators/observe.md#metrics) shows how to read them,
[Alerts](../../how-to/operators/alerts.md) describes the alerts on them, and
[dashboard.json](dashboard.json) shows all of them in Grafana.

- With \`--workers\`, the metrics of workers have a label \`worker\`. Those of the main process do not.
- A histogram is three metrics: its name with \`_bucket\`, \`_sum\` and \`_count\`.
- No label names a partner, a customer or a key.
`;

export function metricsPage(): string {
  const rows = Object.entries(metricCatalogue).map(([name, { type, help, labels = {}, onlyWith }]) => {
    const condition = onlyWith === undefined ? '' : ` Exists only with ${onlyWith}.`;
    const values = Object.entries(labels).map(([label, text]) => `Label ${code(label)}: ${text}`);
    return [code(name), type, [withCode(help) + condition, ...values].join('<br>')];
  });
  return `${introduction}\n${table(['metric', 'type', 'meaning and labels'], rows)}`;
}
