import { command, printReport } from '../command-line/command.ts';
import { helpColumns, wrap } from '../command-line/help.ts';
import { flag } from '../command-line/options.ts';
import { type Examined, examine } from '../doctor/examine.ts';
import { printable } from '../lib/text.ts';
import { conflictsOfEngine, serveSettings } from '../serve/settings.ts';
import { conflictsOfTracing } from '../tracing/settings.ts';

export const doctor = command({
  options: { ...serveSettings, json: flag('print one JSON document') },
  // Other conflicts of settings are among the findings.
  conflicts: (config) => [...conflictsOfEngine(config), ...conflictsOfTracing(config)],
  run: async (config, _words, output) => {
    // A process cannot end during the system's DNS lookup, which takes 10 s or more if the name server is
    // silent.
    process.env.RES_OPTIONS ??= 'timeout:1 attempts:1';
    const checks = await examine(config);
    const failures = checks.filter(({ status }) => status === 'failed').length;
    const failure =
      failures > 0
        ? `${failures} of ${checks.length} checks failed. Follow the advice under each of them.`
        : undefined;
    const columns = process.stdout.isTTY ? helpColumns(process.stdout) : Number.POSITIVE_INFINITY;
    const text = checks.map((check) => textOf(check, columns)).join('\n');
    printReport({ value: checks, text, failure }, config.json, output);
  },
});

const marks = { ok: '✓', warning: '!', failed: '✗', skipped: '-' };
const nameWidth = 11;

/** A mark, the name of the check, and beside them what was found and what to do. */
function textOf({ name, status, detail, remedy }: Examined, columns: number): string {
  const start = `${marks[status]} ${name.padEnd(nameWidth)}  `;
  const lines = [detail, remedy ?? []].flat().flatMap((text) => wrap(text, columns - start.length));
  return printable(start + lines.join(`\n${' '.repeat(start.length)}`));
}
