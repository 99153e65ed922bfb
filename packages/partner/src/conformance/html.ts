/** The report as one page that needs no network and no scripts. */
import { escapeMarkup as escaped } from '@partner-network/common/text';
import type { CaseResult } from './run.ts';

const style = `
:root { color-scheme: light dark; }
h1 { font-size: 1.4rem; }
body { margin: 0 auto; padding: 1rem; max-width: 68rem; font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; color: light-dark(#1b1f27, #e6e9ef); background: light-dark(#fff, #12151a); }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
td { vertical-align: top; padding: .35rem; border-top: 1px solid light-dark(#d5d9e0, #3a404b); }
td:first-child { width: 5rem; }
pre { padding: .75rem; background: light-dark(#f4f6f9, #1c2027); white-space: pre-wrap; }
.passed { color: light-dark(#1a6b34, #6fd28c); } .skipped { color: light-dark(#555c69, #a6adba); }
.failed { color: light-dark(#b3261e, #ff8a80); } .expected { color: light-dark(#7a5200, #f2c14e); }
`;

/** Shows lines of text, and then the cases: first those that failed. */
export function htmlOf(
  [verdict = '', ...lines]: readonly string[],
  cases: readonly CaseResult[],
  failureOf: (failed: CaseResult) => string,
): string {
  const row = (result: CaseResult) => {
    const { id, section, title, status, variable, expected } = result;
    const needs = variable === undefined ? '' : `<br>Needs <code>${escaped(variable)}</code>`;
    const failure = expected === undefined ? '' : `<pre>${escaped(failureOf(result))}</pre>`;
    return `<tr><td class="${status}">${status}</td>
<td><code>${escaped(id)}</code> (${escaped(section)})<br>${escaped(title)}${needs}${failure}</td></tr>`;
  };
  const isFailed = ({ expected }: CaseResult) => expected !== undefined;
  const rows = [...cases.filter(isFailed), ...cases.filter((one) => !isFailed(one))].map(row);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(verdict)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(verdict)}</h1>
${lines.map((line) => `<p>${escaped(line)}</p>`).join('\n')}
<table>
${rows.join('\n')}
</table>
</body>
</html>
`;
}
