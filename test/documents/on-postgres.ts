/** Adapts the commands of the documents to the Postgres database of a test. */
import assert from 'node:assert/strict';
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { connectTo } from '../../packages/testkit/servers/postgres.ts';
import { programsFolder } from '../../packages/testkit/servers/postgres-programs.ts';
import { pageFor, read } from '../sources.ts';
import type { Clone } from './clone.ts';
import type { Page } from './page.ts';

export function adaptTo(url: string) {
  /** Replaces the databases of the page by those of the test. Their addresses have an "&". */
  function onPostgres(block: string): string {
    const name = new URL(url).pathname.slice(1);
    const search = 'sslmode=disable&sslrootcert=/dev/null';
    const beside = (suffix: string) => Object.assign(new URL(url), { pathname: name + suffix, search }).href;
    return block
      .replaceAll(/postgres:\/\/network@db\.example\/(network|postgres)\b/g, () => beside(''))
      .replaceAll(/postgres:\/\/network@db\.example\/network(_\w+)/g, (_, suffix) => beside(suffix))
      .replaceAll(/\bnetwork(_restored|_unchecked)\b/g, `${name}$1`);
  }

  /** Adds the folder of the server's programs to the PATH. */
  function withPrograms(block: string): string {
    const folder = programsFolder();
    const beside = folder === undefined ? '' : dirname(realpathSync(join(folder, 'initdb')));
    return `export PATH="$PATH:${beside}"\n${onPostgres(block)}`;
  }

  /** Whether pg_dump can be used: it refuses a server that is newer than itself. */
  async function canDump(t: TestContext, clone: Clone): Promise<boolean> {
    const client = await connectTo(t, url);
    const { rows } = await client.query('show server_version');
    const version = await clone.run(withPrograms('pg_dump --version || true'));
    return Number(/\) (\d+)/.exec(version)?.[1]) >= Number.parseInt(rows[0].server_version, 10);
  }

  async function separateDuties(t: TestContext, clone: Clone, page: Page): Promise<void> {
    if (!(await canDump(t, clone))) return t.skip('needs the programs of the server');
    // Roles belong to the whole server.
    const prefix = `pn_${Date.now()}_`;
    const settings = `export DATABASE_URL='${url}'`;
    const applied = `| sed 's/network_/${prefix}/g' | psql -q`;
    const ofTest = (block: string) => `${settings}\n${withPrograms(block.replace('| psql', applied))}`;
    const names = ['serve', 'import', 'support', 'operate', 'admin', 'retention'].map(
      (name) => prefix + name,
    );
    t.after(() =>
      clone.run(ofTest(`psql -q "$DATABASE_URL" -c 'drop owned by ${names}' -c 'drop role ${names}'`)),
    );
    await page.next(/^$/, ofTest);
    await page.next(/Acme Shops/, ofTest);
    page.end();
    const listed = await clone.run(`${settings}\nnpx partner-network audit list --limit 1 --json`);
    assert.match(listed, /"reason":"ticket 4711"\},"db_user":/);

    const auditor = `${prefix}auditor`;
    const [grant = ''] =
      /grant select on [\w, ]+ to auditor/.exec(read(pageFor('operators', 'separate-duties'))) ?? [];
    const client = await connectTo(t, url);
    await client.query(`create role ${auditor} login password '${new URL(url).password}'`);
    t.after(() =>
      clone.run(ofTest(`psql -q "$DATABASE_URL" -c 'drop owned by ${auditor}' -c 'drop role ${auditor}'`)),
    );
    await client.query(grant.replace('to auditor', `to ${auditor}`));
    const { href } = Object.assign(new URL(url), { username: auditor });
    const audited = await clone.run(`DATABASE_URL='${href}' npx partner-network audit list --limit 1 --json`);
    assert.equal(audited, listed);
  }

  return { onPostgres, withPrograms, canDump, separateDuties };
}
