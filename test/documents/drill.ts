/** Requests of a partner to the service that the commands of the documents have set up. */
import assert from 'node:assert/strict';
import { until } from '../../packages/testkit/fixtures/lifetime.ts';
import { documentedFetch } from '../../packages/testkit/watch/documented.ts';
import type { Clone } from './clone.ts';
import type { Page } from './page.ts';

export interface IssuedKey {
  readonly id: string;
  readonly key: string;
}

/** Finds a key in the output of a command. */
export function keyIn(printed: string): IssuedKey {
  const [, key = '', id = ''] = /^(pna?_live_\w+)\n.*?key ((?:ADMIN_)?KEY_\w+)/ms.exec(printed) ?? [];
  assert.notEqual(id, '');
  return { id, key };
}

export const balances = 'balances?customer_id=CUSTOMER_1&type=CHECKING';
const firstBrand = 'brands?limit=1';
const renamed = '{"id":"BRAND_1","name":"Renamed since","reference_id":"shop-17"}';

const unchanged = (block: string) => block;

/** A customer who is erased after the backup. */
const erasedWith = ({ id }: IssuedKey) => `ERASED_${id}`;

export type Drill = ReturnType<typeof createDrill>;

export function createDrill(clone: Clone) {
  /** Resolves to status and body. */
  const call = async ({ key }: IssuedKey, path: string): Promise<string> => {
    const url = clone.here(`http://127.0.0.1:8080/network/v1/${path}`);
    const answer = await documentedFetch(url, { headers: { Authorization: `Bearer ${key}` } });
    return `${answer.status} ${await answer.text()}`;
  };

  /** Resolves when the key is refused with this code. */
  const refuses = async (key: IssuedKey, code: string): Promise<void> => {
    await until(20_000, async () => (await call(key, balances)).includes(code));
  };

  const newKey = async (settings = '') => {
    const words = 'keys create --partner PARTNER_ACME --scope BRANDS_READ --scope BALANCES_READ';
    return keyIn(await clone.run(`${settings}\nnpx partner-network ${words}`));
  };

  return {
    call,
    refuses,
    newKey,

    /** Creates a key, and a grant of two customers: one has the key's id, the other will be erased. */
    newKeyAndGrant: async (settings = '') => {
      const made = await newKey(settings);
      const words = `grants create --partner PARTNER_ACME --id GRANT_${made.id}`;
      await clone.run(`${settings}
        npx partner-network ${words} --customer ${made.id}
        npx partner-network ${words} --customer ${erasedWith(made)}`);
      return made;
    },

    importData: async (imports: Page, feeds: Page) => {
      await imports.next(/^2 read, 2 written/);
      await imports.next(/^1 read, 1 written.*\n1 read, 0 written, 0 unchanged, 0 stale, 1 deleted/);
      await imports.next(/^2 read, 0 would be written, 2 unchanged, 0 stale, 2 would be deleted/);
      await imports.next(/^2 read, 2 would be/);
      // Another partner, whose brands have no images: the other servers of the page do not exist.
      const ofCheck = (block: string) => block.replace('PARTNER_ACME', 'PARTNER_CHECK');
      await imports.next(/^\d+ brands?: 0 valid, 0 faulty, \d+ without an image\.$/m, ofCheck);
      // Both lines are usually in one commit: then the older line is stale.
      await feeds.next(/^2 read, [12] written/);
      feeds.end();
      await imports.next(/^$/);
      imports.end();
      assert.match(await clone.run('cat balances.jsonl'), /^(\{"id":"BAL_\d".*\}\n){2}$/);
    },

    /** Takes imports back. On Postgres, `settings` names the database, and its records are newer. */
    takeBack: async (page: Page, settings = '') => {
      const time = settings === '' ? '2025-07-01T08:00:00Z' : new Date().toISOString();
      const backup = 'backups/before-take-back.db';
      if (settings === '') await clone.run(`mkdir -p -m 700 backups; npx partner-network backup ${backup}`);
      const adapt = (block: string) =>
        [settings, block]
          .join('\n')
          .replaceAll('2025-07-01T08:00:00Z', time)
          .replaceAll('backups/2027-01-31.db', backup);
      await page.next(/^2 read, 2 written/, adapt);
      await page.next(/^2 read, 1 would be written, 0 unchanged, 0 stale, 1 would be deleted/, adapt);
      await page.next(/^2 read, 1 written, 0 unchanged, 0 stale, 1 deleted/, adapt);
      await page.next(/^1 read, 0 written, 1 unchanged/, adapt);
      await page.next(/^(\d+) read, \1 would be written/, adapt);
      page.end();
    },

    followAudit: async (page: Page, revoked: IssuedKey) => {
      await page.next(new RegExp(`keys revoke .*${revoked.id}.*"action":"keys revoke"`, 's'));
      await page.next(/"target":"PARTNER_ACME"/);
      // These run until they are stopped.
      for (const file of ['audit.jsonl', 'chain.jsonl'])
        await page.next(/"action":"keys revoke"/, (block) => {
          const seen = `until grep -q 'keys revoke' ${file}; do sleep 0.1; done`;
          const path = 'export PATH="$PWD/node_modules/.bin:$PATH"';
          return `${path}\n${block.replace('npx ', '')} &\n${seen}; kill $!; wait $!; cat ${file}`;
        });
      await page.next(/The database has all of them, unchanged\./);
      await clone.run('npx partner-network grants create --partner PARTNER_ACME --customer CUSTOMER_9');
      await page.next(/^Erased customer CUSTOMER_9: deleted 0 balances and 1 grant\. /);
      page.end();
    },

    /** Counts are written a few seconds after the answer. */
    seeUsage: async (page: Page) => {
      const list = 'npx partner-network usage list';
      await until(20_000, async () => / OK +\d+ .* listBalances /.test(await clone.run(list)));
      await page.next(/^FROM .* OK +\d+ .* listBalances /s);
      page.end();
    },

    /** The cursor after the first brand. Earlier requests may have used up the rate of this second. */
    cursorOf: async (key: IssuedKey): Promise<string> => {
      let cursor: string | undefined;
      await until(20_000, async () => {
        cursor = /"cursor":"([^"]+)"/.exec(await call(key, firstBrand))?.[1];
        return cursor !== undefined;
      });
      return cursor!;
    },

    /**
     * Renames a brand, which a restore must undo, and revokes a key and a grant, which it must not undo.
     * Erases a customer, who then gives another partner a grant with the same id, and a customer that is
     * newer than the backup.
     */
    changeSince: async (revoked: IssuedKey, working: IssuedKey, settings = '') => {
      const erased = erasedWith(revoked);
      const grant = `--id GRANT_${revoked.id}`;
      await clone.run(`${settings}
        npx partner-network keys revoke ${revoked.id}
        npx partner-network grants revoke GRANT_${revoked.id} --customer ${revoked.id}
        npx partner-network customers erase ${erased} --yes
        npx partner-network grants create --partner PARTNER_CHECK --customer ${erased} ${grant}
        npx partner-network grants create --partner PARTNER_ACME --customer NEW_${erased}
        npx partner-network customers erase NEW_${erased} --yes
        echo '${renamed}' | npx partner-network import brands - --partner PARTNER_ACME`);
      await refuses(revoked, 'API_KEY_REVOKED');
      assert.match(await call(working, firstBrand), /"name":"Renamed since"/);
    },

    /** Runs the script that applies changes without its imports: it must find the grants of the backup. */
    findsActive: async (page: Page, { id }: IssuedKey, adapt = unchanged) => {
      const isActive = (customer: string) => `"customer_id":"${customer}".*"status":"ACTIVE".*\\n`;
      const found = new RegExp(`${isActive(`ERASED_${id}`)}.*${isActive(id)}.*Not restored: `, 's');
      await page.fails(found, (block) => adapt(block.replaceAll(/^.* import .*$/gm, '')));
    },

    /** Runs the script that applies the changes since the backup. */
    applySince: async (page: Page, adapt = unchanged) => {
      const printed = await page.next(/^.* 0 partners and 1 key changed\. /, adapt);
      assert.match(printed, /\n\d+ read, 2 customers erased: deleted 0 balances and 1 grant\.\n/);
      assert.match(printed, /\n\d+ read, 2 written, \d+ unchanged, 0 stale, 0 deleted, 0 rejected\.\n$/);
    },

    /** Finds receipts and audit entries that are newer than the backup. */
    seeRefused: async (page: Page, { id }: IssuedKey, restored: string) => {
      const lastHour = (block: string) =>
        block.replace('2027-01-31T00:00:00Z', '1h').replace('"$NEW"', `'${restored}'`);
      await page.next(new RegExp(`"key_id":"${id}".*"API_KEY_REVOKED"`), lastHour);
      page.end();
      const list = `npx partner-network audit list --action 'keys revoke' --target ${id} --json`;
      assert.equal(JSON.parse(await clone.run(`${list} --database '${restored}'`)).length, 1);
    },

    /**
     * Checks that records are as in the backup, cursors still work, key and grant are still revoked, and the
     * customers are still erased since the same time.
     */
    assertRestored: async (cursor: string, revoked: IssuedKey, working: IssuedKey, settings = '') => {
      assert.match(await call(working, firstBrand), /"name":"Acme Coffee"/);
      assert.match(await call(working, `${firstBrand}&cursor=${cursor}`), /"id":"BRAND_2"/);
      assert.match(await call(working, balances), /"amount":125050/);
      assert.match(await call(revoked, balances), /API_KEY_REVOKED/);
      const granted = `balances?customer_id=${revoked.id}&type=CHECKING&grant_id=GRANT_${revoked.id}`;
      assert.match(await call(working, granted), /GRANT_REVOKED/);
      const erased = granted.replace(`=${revoked.id}`, `=${erasedWith(revoked)}`);
      assert.match(await call(working, erased), /GRANT_NOT_FOUND/);
      const list = `npx partner-network grants list --customer ${erasedWith(revoked)}`;
      assert.match(
        await clone.run(`${settings}\n${list}`),
        /^[^\n]*\n[^\n]* ACTIVE .* PARTNER_CHECK [^\n]*\n$/,
      );
      const erasures = `${settings}\nnpx partner-network export erasures | diff - erasures-since.jsonl`;
      assert.equal(await clone.run(erasures), '');
      assert.match(await clone.run('cat erasures-since.jsonl'), new RegExp(`"NEW_${erasedWith(revoked)}"`));
    },
  };
}
