/** A database with revoked keys, and keys that are not in it. */
import { apiKeyOf, digestOfKey, newApiKey } from '../../../packages/service/src/auth/api-key.ts';
import { parseDatabaseUrl } from '../../../packages/store/src/address.ts';
import { openStore } from '../../../packages/store/src/engines.ts';

const byBench = { actor: 'bench', action: 'sandbox' } as const;

const keysOfKind = 1_000;
const past = '2026-01-01T00:00:00.000Z';

/** `near` keys are unknown, too, but their digests begin like the digest of a known key. */
export type Keys = Readonly<Record<'unknown' | 'near' | 'revoked', readonly string[]>>;

export async function makeKeys(database: string): Promise<Keys> {
  const newKeys = () => Array.from({ length: keysOfKind }, () => newApiKey('production'));
  const revoked = newKeys();
  const store = await openStore(parseDatabaseUrl(database)!, 'production', 'migrate');
  await store.createPartner({ id: 'partner', name: 'Partner', created_at: past }, byBench);
  for (const [index, text] of revoked.entries()) {
    const key = { id: `KEY_${index}`, partner_id: 'partner', last_four: text.slice(-4), created_at: past };
    const scopes = ['BALANCES_READ', 'BRANDS_READ'] as const;
    await store.createKey({ ...key, scopes, revoked_at: past }, digestOfKey(text), byBench);
  }
  await store.close();
  return { unknown: newKeys(), near: nearTo(revoked), revoked };
}

/** If digests were compared byte by byte, these would take longer than other unknown keys. */
function nearTo(known: readonly string[]): string[] {
  const beginning = (key: string) => Buffer.from(digestOfKey(key)).toString('hex', 0, 2);
  const beginnings = new Set(known.map(beginning));
  const near: string[] = [];
  for (let index = 0; near.length < keysOfKind; index += 1) {
    const key = apiKeyOf('production', `near${index}`.padEnd(43, '0'));
    if (beginnings.has(beginning(key))) near.push(key);
  }
  return near;
}
