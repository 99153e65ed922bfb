/** Runs every command of the pages about the administrative service in a fresh clone, page by page. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { programsOnPath } from '../../../packages/testkit/servers/programs.ts';
import { keepKeysIn } from '../../../packages/testkit/watch/logs.ts';
import { pageFor, read } from '../../sources.ts';
import { blocksOf, type Clone, makeClone, type RunningScript, shellBlocks } from '../clone.ts';
import { openPage } from '../page.ts';

let clone: Clone;
/** The running service; all pages use the same ports. */
let service: RunningScript | undefined;
before(async () => {
  clone = await makeClone();
});
after(async () => {
  await service?.stop();
  clone.remove();
});

async function stop(): Promise<void> {
  await service?.stop();
  service = undefined;
}

/** Opens a page, and returns a function that compares an output with the next block that shows one. */
function open(name: string) {
  const document = pageFor('operators', name);
  const shown = blocksOf(document).filter(({ language }) => language === 'text');
  const shows = (printed: string) => {
    const next = shown.shift()?.text ?? assert.fail(`${document} shows fewer outputs`);
    assert.equal(printed.trim(), next);
  };
  return { ...openPage(clone, document), shown, shows };
}

const any = /^/;

test('first-batch.md sends a batch, sends it again, and handles a line that is wrong', async () => {
  const page = open('first-batch');
  // What run.md leaves.
  await clone.run(`npx partner-network migrate
    npx partner-network partners create --id PARTNER_ACME --name "Acme Payments"`);
  const [key = ''] = (await page.next(/^pna_live_/)).match(/^pna_live_\w+$/m) ?? [];
  keepKeysIn(key);
  service = await page.serve();
  assert.match(
    page.shown.shift()!.text,
    /^Administering production at http:\/\/127\.0\.0\.1:8090\/admin\/v1 /,
  );
  const ofTest = (block: string) => block.replace('pna_live_PASTE_YOUR_KEY', key);
  const sending = ofTest(shellBlocks(pageFor('operators', 'first-batch'))[2] ?? '');
  page.shows(await page.next(/\nstatus 200\n$/, ofTest));
  page.shows(await clone.run(sending));
  page.shows(await page.next(/\nstatus 207\n$/));
  await page.next(/ batch balances +- +balances .*"written":2/);
  page.end();
  assert.deepEqual(page.shown, []);
});

test('send-changes.md sends a file with a program, and deletes a record', async () => {
  const page = open('send-changes');
  await page.next(any);
  const shown = page.shown.map(({ text }) => text);
  const isPython = programsOnPath(['python3']).length > 0;
  // Without Python, the other program writes the lines.
  const other = 'node_modules/.bin/node docs/how-to/operators/send-changes.ts';
  const withNode = (block: string) =>
    block
      .replace(isPython ? /^$/ : /python3 \S+/, other)
      .replace(' changes.jsonl', ' changes.jsonl --url http://127.0.0.1:8090 --give-up-after 60');
  page.shows(await page.next(any, withNode));
  assert.match(await clone.run('cat rejected.jsonl'), /^\{"line":3,"errors":\[\{"field":"currency",.*\}\n$/);
  page.shows(await page.next(any));
  page.end();
  assert.equal(shown.length, 2);
});

test('send-changes.md names every status that a batch can get', () => {
  const { paths } = JSON.parse(read('docs/admin-openapi.json'));
  const { responses } = paths['/balances/batches'].post;
  const page = read(pageFor('operators', 'send-changes'));
  const rows = [...page.matchAll(/^\| ((?:\d{3}(?:, )?)+) \|/gm)].flatMap(([, cell = '']) =>
    cell.split(', '),
  );
  assert.deepEqual(
    Object.keys(responses).filter((status) => !rows.includes(status)),
    [],
  );
});

test('administration.md creates a key, and starts the service', async () => {
  await stop();
  const page = open('administration');
  keepKeysIn(await page.next(/^pna_live_\w{49}\n.* active +ADMIN .* Ana Ruiz +pna_live_…\w{4} .*\n$/s));
  service = await page.serve();
  page.end();
  await stop();
});

test('first-batch.md leaves an entry with the counts of all batches when the service stops', async () => {
  const printed = await clone.run('npx partner-network audit list --action "batch balances"');
  assert.match(printed, /"batches":3,"written":3,"unchanged":2,"stale":0,"deleted":0,"rejected":1/);
});
