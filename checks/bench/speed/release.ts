/** Compares the package of this checkout with that of a release: what an answer costs in each. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../packages/testkit/fixtures/lifetime.ts';
import { packServer } from '../../../packages/testkit/package/installed.ts';
import { packagePathOf, placePackage } from '../../../packages/testkit/releases/releases.ts';
import { wholeRun } from '../../lib/program.ts';
import { type Partner, recordsOf } from '../lib/data.ts';
import type { Generator } from '../lib/load.ts';
import { type Database, type Engine, engines, outputOf } from '../lib/service.ts';
import { type Contender, ours } from './contenders.ts';

/**
 * Our service from both packages. Each has its own database, because the older program refuses the newer
 * schema. A package without its dependencies inside uses those of this repository.
 */
export async function packedContenders(
  generator: Generator,
  release: string,
  filled: (engine: Engine, program: string) => Promise<Database & { readonly partners: readonly Partner[] }>,
): Promise<Contender[]> {
  const files = {
    [release]: packagePathOf(release),
    'this checkout': packServer(temporaryFolder(wholeRun)),
  };
  const found: Contender[] = [];
  for (const engine of engines) {
    for (const [version, file] of Object.entries(files)) {
      const program = placePackage(wholeRun, file);
      const database = await filled(engine, program);
      // Without refusals and /docs.
      const [page, balance] = await ours(generator, engine, database, database.partners, program);
      for (const { name, measure } of [page!, balance!]) {
        const before = `${name}, ${release}`;
        const databaseGoal = engine === 'postgres' ? { over: `${before}, in Postgres` } : undefined;
        const goals = version !== release && { goal: { over: before }, databaseGoal };
        found.push({ name: `${name}, ${version}`, measure, ...goals });
      }
    }
  }
  return found;
}

/** Fills a database with the commands of a package. Resolves to the partners with their new keys. */
export async function fillBy(program: string, url: string, partners: readonly Partner[], brands: number) {
  const run = (...words: string[]) => outputOf(program, [...words, '--database', url]);
  const file = join(temporaryFolder(wholeRun), 'records.jsonl');
  const scopes = ['--scope', 'BRANDS_READ', '--scope', 'BALANCES_READ'];
  await run('migrate');
  const found: Partner[] = [];
  for (const partner of partners) {
    const { id } = partner;
    await run('partners', 'create', '--id', id, '--name', id);
    const { key } = JSON.parse(await run('keys', 'create', '--partner', id, ...scopes, '--json'));
    found.push({ ...partner, key });
    for (const [kind, records] of Object.entries(recordsOf(partner, brands / partners.length))) {
      writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
      await run('import', kind, file);
    }
  }
  return found;
}
