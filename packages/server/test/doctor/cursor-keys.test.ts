/** The key that seals cursors, on both engines. */
import { test } from 'node:test';
import { openTestDatabase } from '../../../testkit/fixtures/database.ts';
import { cursorsBounds } from '../../src/bounds/cursors.ts';
import { toTime } from '../../src/lib/times.ts';
import { assertFinding, findingsOf } from './examined.ts';

const now = Date.parse('2026-03-01T00:00:00.000Z');
const day = 24 * 3_600_000;

for (const engine of ['sqlite', 'postgres']) {
  test(`reports a cursor key that is old, in the future or missing (${engine})`, async (t) => {
    const { url, execute } = await openTestDatabase(t, 'migrated', async () => {}, engine);
    const finding = async () =>
      (await findingsOf(['--database', url, '--environment', 'sandbox'], () => now)).cursor_keys!;
    const made = (ms: number) => execute('update cursor_keys set created_at = $1', toTime(ms));

    await made(now - 400 * day);
    assertFinding(await finding(), 'ok', /^The newest key of cursors is 400 days old\.$/);
    await made(now - 400 * day - 1);
    assertFinding(await finding(), 'warning', / is 400 days old\.$/, /"partner-network cursor-key rotate"/);
    await made(now + cursorsBounds.cursorKeySettleMs);
    assertFinding(await finding(), 'ok', / is 0 days old\.$/);
    await made(now + cursorsBounds.cursorKeySettleMs + 1);
    assertFinding(await finding(), 'warning', / of 2026-03-01T.* yet to come/, /clock .* --discard-old/);
    await execute('delete from cursor_keys');
    assertFinding(await finding(), 'failed', /^There is no key to seal cursors with/, /cursor-key rotate/);
  });
}
