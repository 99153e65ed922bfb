/** The alert rules and the dashboard of docs/how-to/operators/alerts.md. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { metricCatalogue } from '../../packages/common/src/observability/catalogue.ts';
import { slugOf } from '../../packages/service/src/site/markdown.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { needsPromtool, promtool } from '../../packages/testkit/servers/promtool.ts';
import { read, root, sources } from '../sources.ts';

const alerts = read('docs/reference/operators/alerts.yml');
const dashboard = read('docs/reference/operators/dashboard.json');
const alertNames = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

const metricName = /\b(?:partner_network|process)_[a-z_]+/g;

/** A histogram is exposed as three metrics: its name with each of these endings. */
const parts = ['bucket', 'sum', 'count'];

/** The names of all metrics, as Prometheus reads them. */
const exposed = new Set(
  Object.entries(metricCatalogue).flatMap(([name, { type }]) =>
    type === 'histogram' ? parts.map((part) => `${name}_${part}`) : [name],
  ),
);

test('every metric of the catalogue is read somewhere', () => {
  const readers = sources.filter((file) => /^packages\/[\w-]+\/src\//.test(file)).map(read);
  for (const name of Object.keys(metricCatalogue)) {
    const uses = new RegExp(`\\bmetric(Of(Each)?)?\\(\\s*'${name}'`);
    assert.ok(
      readers.some((text) => uses.test(text)),
      name,
    );
  }
});

test('alerts and dashboard use only existing metrics', () => {
  for (const text of [alerts, dashboard]) {
    const named = new Set(text.match(metricName));
    assert.ok(named.size > 8);
    for (const name of named) assert.ok(exposed.has(name), name);
  }
});

test('the dashboard shows every metric', () => {
  const named = new Set(dashboard.match(metricName));
  // A histogram is shown by its buckets.
  const shown = (name: string) => named.has(name) || named.has(name.replace(/_(sum|count)$/, '_bucket'));
  assert.deepEqual(
    [...exposed].filter((name) => !shown(name)),
    [],
  );
});

test('each alert has a severity, a summary, and a section that says what to do', () => {
  const sections = [...read('docs/how-to/operators/alerts.md').matchAll(/^### (.*)$/gm)].map(
    ([, title = '']) => title,
  );
  const slugs = sections.map(slugOf);
  const rules = alerts.split(/^ +- alert: /m).slice(1);
  assert.ok(rules.length > 10);
  for (const rule of rules) {
    assert.match(rule, /severity: (critical|warning|info) /, rule);
    assert.match(rule, /^ +summary: ./m, rule);
    const [, section = ''] = /^ +runbook: docs\/how-to\/operators\/alerts\.md#(\w+)$/m.exec(rule) ?? [];
    assert.ok(slugs.includes(section), rule);
  }
  for (const section of sections) assert.ok(alertNames.includes(section), section);
});

test('the rules load, and tests show when each alert fires and when it does not', needsPromtool, () => {
  const checked = promtool(['check', 'rules', join(root, 'docs/reference/operators/alerts.yml')]);
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

test('every query of the dashboard is valid', needsPromtool, (t) => {
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

test('the dashboard uses the chosen data source', () => {
  const { templating } = JSON.parse(dashboard);
  assert.equal(templating.list[0].name, 'datasource');
  assert.equal(templating.list[0].type, 'datasource');
  const asked = [...dashboard.matchAll(/"type": "prometheus",\s+"uid": "(.*)"/g)].map(([, uid]) => uid);
  assert.ok(asked.length > 20);
  assert.deepEqual([...new Set(asked)], ['$'.concat('{datasource}')]);
});
