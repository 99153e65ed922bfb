import { toned, toneOf } from '@partner-network/common/command-line/color';
import { command, printReport } from '@partner-network/common/command-line/command';
import { helpColumns, wrap } from '@partner-network/common/command-line/help';
import { addedIn, flag } from '@partner-network/common/command-line/options';
import { createProgress } from '@partner-network/common/command-line/progress';
import { printable } from '@partner-network/common/text';
import { conflictsOfEngine, serveSettings } from '@partner-network/service/settings';
import { conflictsOfTracing } from '@partner-network/service/tracing/settings';
import { adminSettings } from '../admin/settings.ts';
import { type Examined, examine } from '../doctor/examine.ts';
import { oidcSettings } from '../identity/settings.ts';

export const doctor = command({
  options: {
    ...serveSettings,
    // The variables are those of `admin`, whose other settings are not checked.
    ...addedIn('0.2.0', {
      'admin-host': { ...adminSettings.host, help: 'address of the administrative service' },
    }),
    ...addedIn('0.3.0', {
      'admin-port': { ...adminSettings.port, help: 'port of the administrative service' },
      'admin-public-url': { ...adminSettings['public-url'], help: 'address of the console for its users' },
      ...oidcSettings,
    }),
    json: flag('print one JSON document'),
  },
  // Other conflicts of settings are among the findings.
  conflicts: (config) => [...conflictsOfEngine(config), ...conflictsOfTracing(config)],
  run: async (config, _words, output) => {
    // A process cannot end during the system's DNS lookup, which takes 10 s or more if the name server is
    // silent.
    process.env.RES_OPTIONS ??= 'timeout:1 attempts:1';
    using progress = createProgress(process.stderr);
    progress.step('connecting');
    const checks = await examine(config, (name) => progress.step(`checking ${name}`));
    progress.clear();
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
  const text = printable(start + lines.join(`\n${' '.repeat(start.length)}`));
  return toned(toneOf(status), text.slice(0, 1)) + text.slice(1);
}
