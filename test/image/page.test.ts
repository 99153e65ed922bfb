/** The commands of containers.md, with podman. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { documentedFetch } from '../../packages/testkit/watch/documented.ts';
import { openTerminal } from '../documents/clone.ts';
import { openPage } from '../documents/page.ts';
import { pageFor } from '../sources.ts';
import { layout, without, withoutImage } from './bundle.ts';
import { withoutRunc } from './runc.ts';

const skip = withoutImage || without('podman') || (await withoutRunc());

/** By default, podman raises limits, which a sandbox may forbid. */
const limits = '[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=1000:1000"]\n';

test('containers.md builds, starts, checks and stops the image', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-podman-'));
  process.env.CONTAINERS_CONF = join(folder, 'containers.conf');
  writeFileSync(process.env.CONTAINERS_CONF, limits);
  const terminal = await openTerminal(folder);
  // It has its own images, containers and volumes.
  const flags = '--root=$PWD/images --runroot=$PWD/state --storage-driver=vfs';
  const podman = `podman() { command podman ${flags} "$@"; }`;
  t.after(async () => {
    await terminal.run(`${podman}; podman rm --all --force --time 0`);
    terminal.remove();
  });
  cpSync(layout!, join(folder, 'image'), { recursive: true });
  const ports = '--network host --env PORT --env OPS_PORT --env HOST=127.0.0.1';
  const adapt = (block: string) =>
    `${podman}\n${block.replaceAll(/^npm .*\n/gm, '').replace('--publish 8080:8080', ports)}`;

  const page = openPage(terminal, pageFor('operators', 'containers'));
  await page.next(/^$/, adapt);
  await page.next(/^Created the production database/, adapt);
  const [key] = /^pn_live_\w+$/m.exec(await page.next(/^pn_live_\w+$/m, adapt))!;
  await page.next(/ is ready\.$/m, adapt);
  await page.next(/^✓ database /m, adapt);
  const embedded = (block: string) => adapt(block).replace(/postgres:[^']*/, 'sqlite:data/production.db');
  await page.next(/^✓ database /m, embedded);
  const url = terminal.here('http://127.0.0.1:8080/network/v1/brands');
  const answer = await documentedFetch(url, { headers: { Authorization: `Bearer ${key}` } });
  assert.equal(answer.status, 200);
  const ownPorts = '--network host --env ADMIN_PORT --env ADMIN_OPS_PORT --env ADMIN_HOST=127.0.0.1';
  const administering = (block: string) =>
    adapt(block)
      .replace('--publish 127.0.0.1:8090:8090', ownPorts)
      .replace('--env ADMIN_HOST=0.0.0.0', '')
      .replace('--ops-port 9091', '--ops-port "$ADMIN_OPS_PORT"');
  await page.next(/ is ready\.\nnetwork-admin$/m, administering);
  await page.next(/^network$/m, adapt);
  page.end();
  const ended = `${podman}; podman inspect --format '{{.State.ExitCode}}' network; podman logs network`;
  assert.match(await terminal.run(ended), /^0\n.*"msg":"stopped"/s);
});
