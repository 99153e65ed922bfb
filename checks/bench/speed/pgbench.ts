/** Postgres alone: the statement of a page of brands, run by pgbench. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresBounds } from '../../../packages/common/src/bounds/store.ts';
import { planSettings } from '../../../packages/store/src/postgres/connections/connection.ts';
import { brandsPage } from '../../../packages/store/src/postgres/statements.ts';
import { temporaryFolder } from '../../../packages/testkit/fixtures/lifetime.ts';
import { programsFolder } from '../../../packages/testkit/servers/postgres-programs.ts';
import { programsOnPath } from '../../../packages/testkit/servers/programs.ts';
import { wholeRun } from '../../lib/program.ts';
import { cpuSecondsOfFamily } from '../lib/cpu.ts';
import { outputOf } from '../lib/service.ts';
import type { Contender } from './contenders.ts';
import { pageRecords } from './requests.ts';

function program(): string | undefined {
  return programsOnPath(['pgbench'], [programsFolder() ?? ''])[0];
}

export function missingPgbench(): string | false {
  return program() === undefined && 'pgbench was not found. Install the programs of PostgreSQL.';
}

export function pgbench(url: string, pid: number, partnerId: string): Contender {
  // pgbench has named parameters instead of numbers, and takes no empty value: "!" sorts before all ids.
  const values = { partner: partnerId, after: '!', limit: pageRecords };
  const names = Object.keys(values);
  const statement = brandsPage.text.replaceAll(/\$(\d)/g, (_, number) => `:${names[Number(number) - 1]}`);
  const file = join(temporaryFolder(wholeRun), 'page.sql');
  writeFileSync(file, `${statement.trim()};\n`);
  const words = [
    ...['--no-vacuum', '--protocol=prepared', '--jobs=1', `--file=${file}`],
    // The same number of connections as the service, with the settings of its sessions.
    `--client=${postgresBounds.connections}`,
    ...Object.entries(values).map(([name, value]) => `--define=${name}=${value}`),
  ];
  const settings = { PGOPTIONS: `${planSettings} -c statement_timeout=${postgresBounds.statementMs}` };

  async function run(howLong: string): Promise<{ seconds: number; pages: number }> {
    const before = cpuSecondsOfFamily(pid);
    const output = await outputOf(program()!, [...words, howLong, url], settings);
    const pages = Number(/number of transactions actually processed: (\d+)/.exec(output)![1]);
    return { seconds: cpuSecondsOfFamily(pid) - before, pages };
  }

  return {
    name: 'pgbench: brands, first page',
    async measure(seconds) {
      // The cost of opening connections is subtracted: the service opens none during its measurement.
      const connecting = await run('--transactions=1');
      const whole = await run(`--time=${seconds}`);
      const pages = whole.pages - connecting.pages;
      return { databaseUs: ((whole.seconds - connecting.seconds) * 1_000_000) / pages };
    },
  };
}
