import { doctorBounds } from '@partner-network/common/bounds/operator';
import { cursorsBounds } from '@partner-network/common/bounds/service';
import { asOne, type Finding, failed, ok, warning } from '@partner-network/common/finding';
import { counted } from '@partner-network/common/text';
import { toTime } from '@partner-network/common/times';
import type { Inspection } from '@partner-network/store/inspection';
import { expiringAdminKeys, expiringKeys, replacedKeys } from '@partner-network/store/sql/keys';
import type { Row } from '@partner-network/store/sql/statement';

const dayMs = 86_400_000;

const within = `within ${doctorBounds.expiryWarningMs / dayMs} days`;

export async function checkKeys(opened: Inspection, nowMs: number): Promise<Finding> {
  const remedy =
    'Replace each key with "partner-network keys rotate KEY_ID", and give the new key to the partner.';
  const ofAdmin = 'Replace each administrative key with "partner-network admin-keys rotate ID".';
  const findings = [
    await checkExpiry(opened, nowMs, expiringKeys, 'key', remedy),
    await checkReplaced(opened, nowMs),
    // The role of `serve` may not read them.
    await checkExpiry(opened, nowMs, expiringAdminKeys, 'administrative key', ofAdmin).catch(() => undefined),
  ].filter((finding) => finding !== undefined);
  return findings.length === 0 ? ok(`No key expires ${within}.`) : asOne(findings);
}

/** Keys that the partner still uses after it got a newer one: they will stop working. */
async function checkReplaced({ rows, lastUses }: Inspection, nowMs: number): Promise<Finding | undefined> {
  const replaced = await rows(replacedKeys, toTime(nowMs));
  // The check of the database reports receipts that cannot be read.
  const uses = await lastUses(replaced.map(({ id }) => id as string)).catch(() => new Map<string, string>());
  const used = replaced.filter(({ id, replaced_at }) => (uses.get(id as string) ?? '') > String(replaced_at));
  if (used.length === 0) return undefined;
  const shown = used.slice(0, doctorBounds.shownKeys);
  const times = ({ id, expires_at }: Row) => `used ${uses.get(id as string)}, works until ${expires_at}`;
  const count = used.length === 1 ? '1 replaced key is' : `${used.length} replaced keys are`;
  return warning(
    `${count} still in use: ${listed(shown, used.length, times)}.`,
    'Tell each partner to use its newer key before the old key stops working.',
  );
}

/** Keys by id, name and partner or role, each with its times, and how many more there are. */
function listed(keys: readonly Row[], count: number, times: (key: Row) => string): string {
  const texts = keys.map((key) => {
    const called = key.name === null ? '' : ` "${key.name}"`;
    const whose = key.role === undefined ? `of ${key.partner_id}` : `with the role ${key.role}`;
    return `${key.id}${called} ${whose}, ${times(key)}`;
  });
  if (count > keys.length) texts.push(`and ${count - keys.length} more`);
  return texts.join('; ');
}

/** Keys that will stop working. */
async function checkExpiry(
  { rows }: Inspection,
  nowMs: number,
  expiring: string,
  noun: string,
  remedy: string,
): Promise<Finding | undefined> {
  const found = await rows(expiring, toTime(nowMs), toTime(nowMs + doctorBounds.expiryWarningMs));
  if (found[0] === undefined) return undefined;
  const count = Number(found[0].count);
  const expire = `${counted(count, noun)} ${count === 1 ? 'expires' : 'expire'} ${within}`;
  const time = (key: Row) => `${key.expires_at}${key.is_replaced === 1 ? ' (replaced)' : ''}`;
  const keys = listed(found, count, time);
  // Keys without a replacement come first.
  if (found[0].is_replaced === 1) return ok(`${expire}, and a newer key exists: ${keys}.`);
  return warning(`${expire}: ${keys}.`, remedy);
}

export async function checkCursorKeys({ rows }: Inspection, nowMs: number): Promise<Finding> {
  const [newest] = await rows('select max(created_at) as created_at from cursor_keys');
  const createdAt = newest!.created_at as string | null;
  const rotate = '"partner-network cursor-key rotate"';
  if (createdAt === null) {
    return failed('There is no cursor key, so serve cannot start.', `Create one with ${rotate}.`);
  }
  const ageMs = nowMs - Date.parse(createdAt);
  // The database's clock may be slightly ahead of our clock: then the key seals soon.
  if (ageMs < -cursorsBounds.keySettleMs) {
    return warning(
      `The newest cursor key has a future time, ${createdAt}. Until then, no rotation takes effect.`,
      'Correct the clock of the database, then run "partner-network cursor-key rotate --discard-old".',
    );
  }
  const detail = `The newest cursor key is ${Math.max(0, Math.floor(ageMs / dayMs))} days old.`;
  if (ageMs <= cursorsBounds.keyAgeMs) return ok(detail);
  return warning(detail, `Replace it with ${rotate}. Existing cursors stay valid until they expire.`);
}
