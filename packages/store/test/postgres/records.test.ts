import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectTo } from '../../../testkit/servers/postgres.ts';
import { migratedDatabase } from '../../../testkit/service/database.ts';

const settings = [
  `set datestyle to 'German, DMY'`,
  `set datestyle to 'SQL, MDY'`,
  `set timezone to 'Asia/Kathmandu'`,
  `set intervalstyle to 'iso_8601'`,
  `set standard_conforming_strings to off`,
  `set search_path to ''`,
  `set lc_time to 'C'; set lc_numeric to 'C'; set extra_float_digits to -15`,
];

const times = [
  '0001-01-01T00:00:00.000Z',
  '1582-10-10T12:00:00.100Z',
  '2024-02-29T23:59:59.999Z',
  '2026-03-29T01:30:00.010Z',
  '9999-12-31T23:59:59.999Z',
];

const text = 'a"\\/é\u2028';

test('renders records to the same bytes under any settings, from year 0001 to 9999', async (t) => {
  const client = await connectTo(t, await migratedDatabase(t));
  const { rows } = await client.query('select current_schema as home');
  const home = client.escapeIdentifier(rows[0].home);
  for (const setting of ['select', ...settings]) {
    await client.query(setting);
    for (const [index, created_at] of times.entries()) {
      const updated_at = times.at(-1 - index)!;
      const balance = { id: text, customer_id: text, type: 'CHECKING', currency: 'USD', amount: -5 };
      const brand = { id: text, name: text, created_at, updated_at, reference_id: text, color: '#00ff00' };
      const found = await client.query(
        `select ${home}.balance_record($1, $1, 'CHECKING', 'USD', -5, $2, $3) as balance,
          ${home}.brand_record($1, $1, $2, $3, $1, '#00ff00', $1, '{"k":"v"}') as brand`,
        [text, created_at, updated_at],
      );
      const expected = {
        balance: JSON.stringify({ ...balance, created_at, updated_at }),
        brand: JSON.stringify({ ...brand, profile_image_url: text, metadata: { k: 'v' } }),
      };
      assert.deepEqual(found.rows[0], expected, setting);
    }
    await client.query('reset all');
  }
});
