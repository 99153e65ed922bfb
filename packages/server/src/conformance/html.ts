/** The report as one page that needs no network and no scripts. */
import type { CaseResult, ConformanceReport } from './case.ts';

const style = `
:root { color-scheme: light dark; --line: light-dark(#d5d9e0, #3a404b); }
body { margin: 0 auto; padding: 1rem; max-width: 68rem; font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; color: light-dark(#1b1f27, #e6e9ef); background: light-dark(#fff, #12151a); }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
td { vertical-align: top; padding: .35rem .75rem .35rem 0; border-top: 1px solid var(--line); }
td:first-child { width: 5rem; }
pre { padding: .75rem; background: light-dark(#f4f6f9, #1c2027); white-space: pre-wrap; }
details { border: 1px solid var(--line); padding: .5rem .75rem; margin: .5rem 0; }
.passed { color: light-dark(#1a6b34, #6fd28c); } .skipped { color: light-dark(#555c69, #a6adba); }
.failed { color: light-dark(#b3261e, #ff8a80); } .expected { color: light-dark(#7a5200, #f2c14e); }
@media (max-width: 40rem) { td { display: block; border: 0; padding: 0; } tr { display: block; padding: .5rem 0; } }
`;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text = ''): string {
  return text.replace(/[&<>"]/g, (character) => entities[character]!);
}

/** `counts` says how many cases passed, failed and so on. */
export function htmlOf({ base_url, profile, cases }: ConformanceReport, counts: string, at: Date): string {
  const failures = cases.filter(({ expected }) => expected !== undefined);
  const verdict = cases.some(({ status }) => status === 'failed') ? 'Does not conform' : 'Conforms';
  const minute = at.toISOString().slice(0, 16).replace('T', ' ');
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
<p>${counts}</p>
${failures.map(failureOf).join('\n')}
${[...Map.groupBy(cases, ({ section }) => section)].map(sectionOf).join('\n')}
</main>
</body>
</html>
`;
}

function failureOf({ id, title, status, request, answer, expected }: CaseResult): string {
  return `<details>
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
    const result = `<td class="${status}">${status}</td>`;
    return `<tr>${result}<td><code>${escaped(id)}</code></td><td>${escaped(title)}${needs}</td></tr>`;
  });
  return `<h2>${escaped(section)}</h2>\n<table>\n${rows.join('\n')}\n</table>`;
}
