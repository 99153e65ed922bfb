/** Follows the guide for systemd on a machine that systemd boots, block by block in one terminal. */
import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { longRunOnly, temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { installServer, packServer } from '../../packages/testkit/package/installed.ts';
import { shellBlocks } from '../documents/clone.ts';
import { pageFor } from '../sources.ts';
import { bootMachine, whyNoMachine } from './machine.ts';

const page = pageFor('operators', 'install');

/** The package and its Node, as `npm install -g` installs them. npm itself would need a registry. */
function installGlobally(files: string): void {
  const programs = join(files, 'usr/local/bin');
  mkdirSync(programs, { recursive: true });
  installServer(packServer(dirname(files)), join(files, 'usr/local/lib'));
  symlinkSync(
    '../lib/node_modules/partner-network/bin/partner-network.js',
    join(programs, 'partner-network'),
  );
  cpSync(process.execPath, join(programs, 'node'));
  for (const [name, script] of [
    ['npm', '[ "$1" != root ] || echo /usr/local/lib/node_modules'],
    ['sudo', 'exec "$@"'],
  ] as const) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(programs, name), 0o755);
  }
}

test('install.md leads to a service of systemd, and back', {
  timeout: 180_000,
  skip: longRunOnly,
}, async (t) => {
  const reason = whyNoMachine();
  if (reason) return t.skip(reason);
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);
  const files = join(folder, 'files');
  const empty = join(folder, 'machine');
  mkdirSync(empty);
  installGlobally(files);
  const { run } = await bootMachine(t, empty, files);

  const { status, stdout, stderr } = run(`cd /tmp; touch printed; exec > >(tee printed) 2>&1; ${script()}`);
  assert.equal(status, 0, stderr);
  const [, ...printed] = stdout.split('== block\n');
  assert.equal(printed.length, expected.length);
  for (const [index, pattern] of expected.entries()) assert.match(printed[index]!, pattern);
});

/** All blocks. Each is followed by its status and by the state of the service. */
function script(): string {
  // The key that a block prints is pasted into the blocks after it.
  const paste = `key=$(grep -om1 'pn_live_[0-9A-Za-z]*' printed)`;
  const state = 'systemctl show --property Result,ActiveState partner-network';
  const blocks = shellBlocks(page).map((block) =>
    block
      .replace(/'([^']*)pn_live_PASTE_YOUR_KEY'/, '"$1$key"')
      .replace(/^postgres:.*/m, 'sqlite:data/production.db'),
  );
  // The feed writes the line. The administrative service must not run when its user is deleted.
  const written = 'until curl -s 127.0.0.1:9092/metrics | grep -q \'"written"} 1\'; do sleep 0.1; done';
  const disabled = 'systemctl disable --now partner-network-admin';
  const after = (block: string) => {
    if (block.includes('tee /run/')) return `${written}\n${state}`;
    return block.includes('--now partner-network-admin') ? `${disabled}\n${state}` : state;
  };
  return blocks
    .map((block) => `echo "== block"\n${paste}\n${block}\necho "status $?"\n${after(block)}`)
    .join('\n');
}

const running = /status 0\nResult=success\nActiveState=active\n$/;
const stopped = /status 0\nResult=success\nActiveState=inactive\n$/;

/** What each block prints. */
const expected = [
  /^\d+\.\d+\.\d+(-dev)?\nstatus 0\n/,
  /^Created symlink .*\nstatus 0\n/,
  /^Created the production database \/var\/lib\/partner-network\/data\/production\.db .*\npn_live_\w+\n/s,
  new RegExp(
    [
      /Active: active \(running\).*Serving production at https:\/\/network\.example\/.*is ready\./,
      /\{"brands":\[\]\}.*✓ privileges.*✓ receipts/,
      /"msg":"started"\}\n.*"operation":"listBrands",.*"status":200,/,
    ]
      .map(({ source }) => source)
      .join('.*'),
    's',
  ),
  running,
  /✓ database .*✓ receipts.*status 0\n/s,
  /The instance at \S+:9092 is ready\.\nstatus 0\n/,
  running,
  /Removed .*\nstatus 0\n/,
  /The instance at \S+:9091 is ready\.\nstatus 0\n/,
  new RegExp(`before-upgrade\\.db, \\d+ bytes\n.* already has the current schema, .*${running.source}`, 's'),
  stopped,
  stopped,
];
