import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { mountSmallDisk } from '../../../service/test/faults/scene/small-disk.ts';
import { checkDisk, checkReceipts, judgeDisk, judgeReceipts } from '../../src/doctor/machine.ts';
import { assertFinding } from './examined.ts';

/** An operations address whose metrics are these texts, one after the other. */
async function operations(t: TestContext, ...texts: string[]) {
  const server = createServer(({ url }, response) => {
    if (url === '/readyz') response.writeHead(texts.includes('not ready') ? 503 : 200).end();
    else response.end(texts.length > 1 ? texts.shift() : texts[0]);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return { 'ops-host': '127.0.0.1', 'ops-port': (server.address() as AddressInfo).port };
}

const metrics = (waiting: number, written: number, dropped = 0) => `
# TYPE partner_network_receipts_waiting gauge
partner_network_receipts_waiting{worker="1"} ${waiting}
partner_network_receipts_waiting{worker="2"} 0
partner_network_receipts_written_total{worker="1"} ${written}
partner_network_receipts_dropped_total ${dropped}
`;

test('receipts that wait and are not written are a fault; a busy instance has no fault', async (t) => {
  const stuck = await checkReceipts(await operations(t, metrics(7, 5)));
  assertFinding(stuck, 'failed', /^7 receipts wait in memory/, /log .* before you restart/);
  assertFinding(await checkReceipts(await operations(t, metrics(7, 5), metrics(9, 12))), 'ok', /writes/);
  assertFinding(await checkReceipts(await operations(t, metrics(0, 5))), 'ok', /writes/);
  const lost = judgeReceipts({ waiting: 0, written: 5, dropped: 3 }, { waiting: 0, written: 5, dropped: 3 });
  assertFinding(lost, 'warning', /^3 receipts were lost/, /log/);
});

test('an instance that is not ready is a fault', async (t) => {
  const finding = await checkReceipts(await operations(t, metrics(0, 5), 'not ready'));
  assertFinding(finding, 'failed', /^The instance at http:\S+ is not ready: it answers 503\.$/, /log/);
});

test('without an instance at the operations address, nothing is claimed', async (t) => {
  assertFinding(await checkReceipts(await operations(t, 'up 1')), 'skipped', /^No instance answers at http/);
  assertFinding(await checkReceipts({ 'ops-host': '::', 'ops-port': 1 }), 'skipped', /localhost:1,/);
});

const mb = 1_048_576;
const gb = 1_073_741_824;

test('a disk is full below 16 MB, and nearly full below a tenth and 10 GB', () => {
  for (const [freeBytes, allBytes, status, said] of [
    [15 * mb, 20 * mb, 'failed', /^It is full: 15 MB are left/],
    [16 * mb, 100 * mb, 'ok', /^It has 16 MB left/],
    [90 * mb, gb, 'warning', /^It is nearly full: 90 MB are left/],
    [9 * gb, 100 * gb, 'warning', /nearly full/],
    [11 * gb, 1_000 * gb, 'ok', /left/],
    [10 * gb, 20 * gb, 'ok', /left/],
  ] as const) {
    assertFinding(judgeDisk('It', freeBytes, allBytes), status, said, status === 'ok' ? undefined : /larger/);
  }
});

test('each disk is reported once, with what it holds, and the worst decides', async (t) => {
  const disk = mountSmallDisk(20);
  if (typeof disk === 'string') return t.skip(disk);
  t.after(disk.remove);
  disk.fillUp(5 * mb);
  const places = [
    { path: disk.folder, holds: 'the database' },
    { path: disk.folder, holds: 'receipts' },
    { path: '/', holds: 'temporary files' },
  ];
  const said =
    /^The disk of \S+ \(the database, receipts\) is full: 5 MB .* The disk of \/ \(temporary files\) /;
  assertFinding(checkDisk(places), 'failed', said, /larger disk/);
  assertFinding(checkDisk([]), 'skipped', /Postgres/);
});
