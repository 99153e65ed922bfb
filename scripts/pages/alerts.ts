import { readFileSync } from 'node:fs';
import { slugOf } from '../../packages/service/src/reference/guides.ts';
import { table } from './markdown.ts';

const rulesPath = new URL('../../docs/reference/operators/alerts.yml', import.meta.url);
const runbooks = '../../how-to/operators/alerts.md';

const introduction = `# Alerts

Every alert of [alerts.yml](alerts.yml), the rules for Prometheus. [Alerts and
runbooks](${runbooks}) shows how to load them. The name of an alert links to
its runbook: what the alert means, and what to do. An alert fires when its condition has held for
the time under \`for\`. Words in italics stand for the labels and the value of the alert.
`;

interface Alert {
  readonly name: string;
  readonly condition: string;
  readonly for: string;
  readonly severity: string;
  readonly summary: string;
}

/** Reads alerts.yml. Every rule has the same shape, which this pattern requires to the letter. */
const ruleShape = new RegExp(
  [
    /- alert: (?<name>\w+)\n/,
    / {8}expr: (?<condition>[^|\n].*|\|\n(?: {10}.*\n)+?)\n?/,
    /(?: {8}for: (?<for>\w+)\n)?/,
    / {8}labels: \{ severity: (?<severity>\w+) \}\n/,
    / {8}annotations:\n {10}summary: (?<summary>.+)\n/,
    / {10}runbook: \S+\n/,
  ]
    .map(({ source }) => source)
    .join(''),
  'g',
);

function readAlerts(rules: string): Alert[] {
  const alerts = [...rules.matchAll(ruleShape)].map(({ groups }) => groups as unknown as Alert);
  const count = rules.split('- alert:').length - 1;
  if (alerts.length !== count) throw new Error(`${count - alerts.length} rules have another shape.`);
  return alerts;
}

/** The summary with the names of values in place of Prometheus's templates. */
function summaryOf({ summary }: Alert): string {
  const text = summary.replace(/^"(.*)"$/, '$1');
  return text.replaceAll(/\{\{ \$(?:labels\.)?(\w+).*?\}\}/g, '*$1*');
}

function conditionOf({ condition }: Alert): string {
  return condition
    .replace(/^\|\n/, '')
    .replaceAll(/^ {10}/gm, '')
    .trimEnd();
}

export function alertsPage(): string {
  const alerts = readAlerts(readFileSync(rulesPath, 'utf8'));
  const rows = alerts.map((alert) => [
    `[${alert.name}](${runbooks}#${slugOf(alert.name)})`,
    alert.severity,
    alert.for ?? 'at once',
    summaryOf(alert),
  ]);
  const conditions = alerts.map(
    (alert) => `### ${alert.name}\n\n\`\`\`promql\n${conditionOf(alert)}\n\`\`\`\n`,
  );
  return [
    introduction,
    table(['alert', 'severity', 'for', 'summary'], rows),
    '## Conditions\n\nThe conditions are in PromQL.\n',
    ...conditions,
  ].join('\n');
}
