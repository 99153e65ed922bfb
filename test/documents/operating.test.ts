/** What docs/operating.md gives operators: alert rules and a dashboard of metrics that there are. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { slugOf } from '../../packages/server/src/reference/guides.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { needsPromtool, promtool } from '../../packages/testkit/servers/promtool.ts';
import { root } from './clone.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const alerts = read('docs/operators/alerts.yml');
const dashboard = read('docs/operators/dashboard.json');
const alertNames = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

const metricName = /\b(?:partner_network|process)_[a-z_]+/g;

/** Of a histogram there are three, none under its own name. */
const parts = ['bucket', 'sum', 'count'];

/** The names of all metrics in the sources, as Prometheus gets them. */
function exposedNames(): Set<string> {
  const folder = join(root, 'packages/server/src');
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  const described = texts.flatMap((text) => [
    ...text.matchAll(/name: '([a-z_]+)',\n\s+help: .*\n\s+type: '(\w+)'/g),
    ...text.matchAll(/(?:singleMetric|metricByLabel)\(\s*'([a-z_]+)',\s*'(\w+)'/g),
  ]);
  return new Set(
    described.flatMap(([, name = '', type]) =>
      type === 'histogram' ? parts.map((part) => `${name}_${part}`) : [name],
    ),
  );
}

test('alerts and dashboard name no metric that there is not', () => {
  const exposed = exposedNames();
  assert.ok(exposed.size > 20, [...exposed].join(' '));
  for (const text of [alerts, dashboard]) {
    const named = new Set(text.match(metricName));
    assert.ok(named.size > 8);
    for (const name of named) assert.ok(exposed.has(name), name);
  }
});

test('the dashboard shows every metric', () => {
  const named = new Set(dashboard.match(metricName));
  // How often and how much in all is in what is shown of them already.
  const shown = (name: string) => named.has(name) || named.has(name.replace(/_(sum|count)$/, '_bucket'));
  assert.deepEqual(
    [...exposedNames()].filter((name) => !shown(name)),
    [],
  );
});

test('each alert has a severity, words, and a section that says what to do', () => {
  const sections = [...read('docs/operating.md').matchAll(/^### (.*)$/gm)].map(([, title = '']) => title);
  const slugs = sections.map(slugOf);
  const rules = alerts.split(/^ +- alert: /m).slice(1);
  assert.ok(rules.length > 10);
  for (const rule of rules) {
    assert.match(rule, /severity: (critical|warning|info) /, rule);
    assert.match(rule, /^ +summary: ./m, rule);
    const [, section = ''] = /^ +runbook: docs\/operating\.md#(\w+)$/m.exec(rule) ?? [];
    assert.ok(slugs.includes(section), rule);
  }
  for (const section of sections) assert.ok(alertNames.includes(section), section);
});

test('the rules load, and each alert is tried where it fires and where it must not', needsPromtool, () => {
  const checked = promtool(['check', 'rules', join(root, 'docs/operators/alerts.yml')]);
  assert.equal(checked.status, 0, checked.said);
  const cases = read('test/alerts.test.yml');
  for (const name of alertNames) {
    assert.match(cases, new RegExp(`alertname: ${name}, exp_alerts: \\[\\]`), name);
    assert.match(cases, new RegExp(`alertname: ${name}\\n +exp_alerts:\\n +- `), name);
  }
  const tried = promtool(['test', 'rules', join(root, 'test/alerts.test.yml')]);
  assert.equal(tried.status, 0, tried.said);
});

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
}

test('every query of the dashboard can be read', needsPromtool, (t) => {
  const { panels } = JSON.parse(dashboard) as { panels: readonly Panel[] };
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  assert.ok(queries.length > 20);
  const rules = queries.map((query, index) => ({
    record: `query_${index}`,
    expr: query.replaceAll('$__rate_interval', '5m'),
  }));
  // JSON is YAML, too.
  const file = join(temporaryFolder(t), 'rules.yml');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'all', rules }] }));
  const { status, said } = promtool(['check', 'rules', file]);
  assert.equal(status, 0, said);
});

test('the dashboard asks the data source that was chosen', () => {
  const { templating } = JSON.parse(dashboard);
  assert.equal(templating.list[0].name, 'datasource');
  assert.equal(templating.list[0].type, 'datasource');
  const asked = [...dashboard.matchAll(/"type": "prometheus",\s+"uid": "(.*)"/g)].map(([, uid]) => uid);
  assert.ok(asked.length > 20);
  assert.deepEqual([...new Set(asked)], ['$'.concat('{datasource}')]);
});
