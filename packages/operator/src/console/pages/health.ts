/** The checks of `doctor` that concern the database. */
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { mark, table } from '../parts.ts';
import type { Visit } from '../visit.ts';

export async function healthPage({ reads }: Visit): Promise<Page> {
  const checks = await reads.examine();
  const rows = checks.map(({ name, status, detail, remedy }) => [
    name.replace('_', ' '),
    mark(status),
    html`${detail}${remedy !== undefined && html`<br><b>${remedy}</b>`}`,
  ]);
  const isWell = checks.every(({ status }) => status === 'ok' || status === 'skipped');
  return {
    title: 'Health',
    place: 'health',
    body: html`<h1>Health</h1>
<p class="hint">What <code>partner-network doctor</code> finds out about the database, now.
${isWell ? 'All is well.' : 'Follow the advice below.'}</p>
${table('Checks', ['Check', 'Result', 'Finding'], rows, '')}`,
  };
}
