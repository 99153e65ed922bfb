import { command, tell } from '../command-line/command.ts';
import { flag } from '../command-line/options.ts';
import { type Examined, examine } from '../doctor/examine.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { printable } from '../lib/text.ts';
import { conflictsOfEngine, serveSettings } from '../serve/settings.ts';
import { conflictsOfTracing } from '../tracing/settings.ts';

export const doctor = command({
  options: { ...serveSettings, json: flag('print one JSON document') },
  // The rest it tells among its findings.
  conflicts: (config) => [...conflictsOfEngine(config), ...conflictsOfTracing(config)],
  run: async (config, _words, output) => {
    // No process can be ended while the system looks up a name, and by itself that takes 10 s or more with a
    // name server that is silent.
    process.env.RES_OPTIONS ??= 'timeout:1 attempts:1';
    const checks = await examine(config);
    tell(output, config.json, checks, () => checks.map(inWords).join('\n'));
    const failures = checks.filter(({ status }) => status === 'failed').length;
    if (failures > 0) {
      throw new OperatorError(`${failures} of ${checks.length} checks failed: each says what to do.`);
    }
  },
});

const marks = { ok: '✓', warning: '!', failed: '✗', skipped: '-' };
const nameWidth = 11;

function inWords({ name, status, detail, remedy }: Examined): string {
  const said = `${marks[status]} ${name.padEnd(nameWidth)}  ${detail}`;
  return printable(remedy === undefined ? said : `${said}\n${' '.repeat(nameWidth + 4)}${remedy}`);
}
