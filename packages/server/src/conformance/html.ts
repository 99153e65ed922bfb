/** The report as one page that needs no network and no scripts. */
import type { CaseResult, Report } from './case.ts';

const style = `
:root { color-scheme: light dark;
  --line: light-dark(#d5d9e0, #3a404b); --soft: light-dark(#f4f6f9, #1c2027); }
body { margin: 0 auto; padding: 1rem; max-width: 68rem; font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; color: light-dark(#1b1f27, #e6e9ef); background: light-dark(#fff, #12151a); }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
th:first-child { width: 5rem; } th:nth-child(2) { width: 22rem; }
td, th { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0;
  border-top: 1px solid var(--line); }
code, pre { font: .85rem/1.45 ui-monospace, monospace; }
pre { margin: .25rem 0 1rem; padding: .75rem; background: var(--soft); white-space: pre-wrap; }
details { border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .75rem; margin: .5rem 0; }
details p { margin: .75rem 0 0; }
summary { cursor: pointer; }
.passed { color: light-dark(#1a6b34, #6fd28c); } .skipped { color: light-dark(#555c69, #a6adba); }
.failed { color: light-dark(#b3261e, #ff8a80); font-weight: 600; }
.expected { color: light-dark(#7a5200, #f2c14e); }
@media (max-width: 40rem) { thead { display: none; } td { display: block; border: 0; padding: 0; }
  tr { display: block; padding: .5rem 0; border-top: 1px solid var(--line); } }
`;

/** With more failures, each is closed until the reader opens it. */
const mostOpen = 10;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text = ''): string {
  return text.replace(/[&<>"]/g, (character) => entities[character]!);
}

export function htmlOf({ base_url, profile, cases }: Report, at: Date): string {
  const of = (status: CaseResult['status']) => cases.filter((each) => each.status === status);
  const words = { passed: 'passed', failed: 'failed', expected: 'failed as expected', skipped: 'skipped' };
  const counts = Object.entries(words).flatMap(([status, text]) => {
    const count = of(status as CaseResult['status']).length;
    return count === 0 ? [] : [`<span class="${status}">${count} ${text}</span>`];
  });
  const failures = [...of('failed'), ...of('expected')];
  const minute = at.toISOString().slice(0, 16).replace('T', ' ');
  const verdict = of('failed').length === 0 ? 'Conforms' : 'Does not conform';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${verdict}: ${escaped(base_url)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${verdict}</h1>
<p><code>${escaped(base_url)}</code>, profile ${profile}, ${minute} UTC</p>
<p>${cases.length} cases: ${counts.join(', ')}</p>
${failures.map((each) => failureOf(each, failures.length <= mostOpen)).join('\n')}
${[...Map.groupBy(cases, ({ section }) => section)].map(sectionOf).join('\n')}
</main>
</body>
</html>
`;
}

function failureOf({ id, title, status, request, answer, expected }: CaseResult, isOpen: boolean): string {
  return `<details${isOpen ? ' open' : ''}>
<summary><span class="${status}">${status}</span> <code>${escaped(id)}</code> ${escaped(title)}</summary>
<p>Expected ${escaped(expected)}</p>
<p>Request</p>
<pre>${escaped(request)}</pre>
<p>Answer</p>
<pre>${escaped(answer)}</pre>
</details>`;
}

function sectionOf([section, cases]: readonly [string, readonly CaseResult[]]): string {
  const rows = cases.map(({ id, title, status, variable }) => {
    const needs = variable === undefined ? '' : `<br>Needs <code>${escaped(variable)}</code>`;
    const cells = [`<code>${escaped(id)}</code>`, escaped(title) + needs].map((cell) => `<td>${cell}</td>`);
    return `<tr><td class="${status}">${status}</td>${cells.join('')}</tr>`;
  });
  return `<h2>${/^\d/.test(section) ? 'Section ' : ''}${escaped(section)}</h2>
<table><thead><tr><th>Result</th><th>Case</th><th>Promise</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table>`;
}
