/** Postgres alone: the statement of a page of brands, run by pgbench. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresBounds } from '../../../../packages/common/src/bounds/store.ts';
import { planSettings } from '../../../../packages/store/src/postgres/connections/connection.ts';
import { brandsPage } from '../../../../packages/store/src/postgres/statements.ts';
import { temporaryFolder } from '../../../../packages/testkit/fixtures/folder.ts';
import { programsFolder } from '../../../../packages/testkit/servers/postgres-programs.ts';
import { programsOnPath } from '../../../../packages/testkit/servers/programs.ts';
import { wholeRun } from '../../../lib/program.ts';
import { cpuSecondsOfFamily } from '../../lib/cpu.ts';
import type { Partner } from '../../lib/data.ts';
import { outputOf } from '../../lib/processes.ts';
import { pageRecords } from '../requests.ts';
import type { Database } from '../services.ts';
import type { Contender } from './contenders.ts';

/** Sorts before all ids; pgbench takes no empty value. */
const beforeAll = '!';
/** The same number of connections as the service. */
const clients = postgresBounds.connections;
/** The session settings of the service's connections. */
const sessionSettings = `${planSettings} -c statement_timeout=${postgresBounds.statementMs}`;

function program(): string | undefined {
  return programsOnPath(['pgbench'], [programsFolder() ?? ''])[0];
}

export function missingPgbench(): string | false {
  return program() === undefined && 'pgbench was not found. Install the programs of PostgreSQL.';
}

/** One script for the first page of each partner. pgbench has named parameters instead of numbers. */
function writeScripts(folder: string, partners: readonly Partner[]): string[] {
  return partners.map((_, index) => {
    const names = [`:partner${index}`, ':after', ':limit'];
    const text = brandsPage.text.replaceAll(/\$(\d)/g, (_, number) => names[Number(number) - 1]!);
    const file = join(folder, `${index}.sql`);
    writeFileSync(file, `${text.trim()};\n`);
    return file;
  });
}

export function pgbench({ url, pid }: Database, partners: readonly Partner[]): Contender {
  const scripts = writeScripts(temporaryFolder(wholeRun), partners).flatMap((file) => ['--file', file]);
  const values = [
    ...partners.map(({ id }, index) => `partner${index}=${id}`),
    `after=${beforeAll}`,
    `limit=${pageRecords}`,
  ];
  const common = [
    '--no-vacuum',
    '--protocol=prepared',
    `--client=${clients}`,
    '--jobs=1',
    ...scripts,
    ...values.flatMap((value) => ['--define', value]),
  ];

  async function run(...howLong: string[]): Promise<{ seconds: number; pages: number }> {
    const before = cpuSecondsOfFamily(pid!);
    const output = await outputOf(program()!, [...common, ...howLong, url], { PGOPTIONS: sessionSettings });
    const failed = /number of failed transactions: (\d+)/.exec(output)?.[1] ?? '0';
    if (failed !== '0') throw new Error(`pgbench: ${failed} statements failed.`);
    const pages = Number(/number of transactions actually processed: (\d+)/.exec(output)![1]);
    return { seconds: cpuSecondsOfFamily(pid!) - before, pages };
  }

  return {
    id: 'pgbench',
    name: 'pgbench: brands, first page',
    async measure(seconds) {
      // The cost of opening connections is subtracted: the service opens none during its measurement.
      const connecting = await run('--transactions', '1');
      const whole = await run('--time', String(seconds));
      const pages = whole.pages - connecting.pages;
      return { databaseUs: ((whole.seconds - connecting.seconds) * 1_000_000) / pages };
    },
  };
}
