/**
 * Random events of brands, balances and grants, as other systems send them. Each is a whole line with
 * `created_at` and `updated_at`, or with `deleted_at`. No two events of a record have the same time, a
 * grant's partner never changes, and in the order of time its expiry is never later.
 */
import { type Chance, shuffle } from './chance.ts';

export type Kind = 'brands' | 'balances' | 'grants';
export type Fields = Readonly<Record<string, unknown>>;

export interface ModelEvent {
  readonly kind: Kind;
  /** The kind, the owner and the id. */
  readonly record: string;
  /** `updated_at` or `deleted_at`. */
  readonly at: string;
  readonly isDeletion: boolean;
  readonly line: Fields;
}

export const partners = ['acme', 'zenith'] as const;
const finalStatuses = ['REVOKED', 'CONSUMED', 'EXPIRED'] as const;
const firstMs = Date.parse('2026-01-01T00:00:00Z');
const expiryMs = Date.parse('2999-01-01T00:00:00Z');
const createdAt = new Date(firstMs).toISOString();
const recordsOfOwner = 20;

export function recordOf(kind: Kind, owner: unknown, id: unknown): string {
  return `${kind} ${owner} ${id}`;
}

/** The record of a line: brands have a partner as their owner, the others a customer. */
export function recordOfLine(kind: Kind, line: Fields): string {
  return recordOf(kind, kind === 'brands' ? line.partner_id : line.customer_id, line.id);
}

/** Of five records, two are brands, two are balances and one is a grant. Every record has an event. */
export function createEvents(chance: Chance, records: number, events: number): ModelEvent[] {
  const counts = Array<number>(records).fill(1);
  for (let event = records; event < events; event += 1) counts[chance.between(0, records - 1)]! += 1;
  const makers = [brandEvents, balanceEvents, brandEvents, balanceEvents, grantEvents];
  return counts.flatMap((count, index) => {
    const place = Math.floor(index / makers.length);
    const twin = index % makers.length > 1 ? 1 : 0;
    return makers[index % makers.length]!(chance, place, twin, timesOf(chance, count));
  });
}

/** Each event one to three times, in random order. */
export function createDeliveries(chance: Chance, events: readonly ModelEvent[]): ModelEvent[] {
  const all = events.flatMap((event) => Array<ModelEvent>(chance.between(1, 3)).fill(event));
  return shuffle(all, chance);
}

/** Ascending and different times. Some are a millisecond apart. */
function timesOf({ between }: Chance, count: number): string[] {
  let ms = firstMs;
  return Array.from({ length: count }, () => {
    ms += between(0, 2) === 0 ? 1 : between(2, 100_000);
    return new Date(ms).toISOString();
  });
}

const padded = (number: number) => String(number).padStart(4, '0');
const chanceOfDeletion = 0.25;

/** Both partners have brands with the same ids. Few contents: often an event changes only the time. */
function brandEvents(chance: Chance, place: number, twin: number, times: readonly string[]): ModelEvent[] {
  const key = { partner_id: partners[twin]!, id: `brand-${padded(place)}` };
  return recordEvents(chance, 'brands', key, times, () => ({
    name: `${key.partner_id} ${chance.between(1, 3)}`,
    reference_id: `reference-${chance.between(1, 2)}`,
    profile_image_url: 'https://images.example/one.png',
    ...(chance.fraction() < 0.5 && { color: '#a1b2c3' }),
    ...(chance.fraction() < 0.5 && { metadata: { tier: chance.oneOf(['gold', 'tin']), zone: 'a' } }),
  }));
}

const customerOf = (place: number) => `customer-${padded(Math.floor(place / recordsOfOwner))}`;

function balanceEvents(chance: Chance, place: number, twin: number, times: readonly string[]): ModelEvent[] {
  const key = { customer_id: customerOf(place), id: `balance-${padded(place)}-${twin}` };
  return recordEvents(chance, 'balances', key, times, () => ({
    type: 'CHECKING',
    currency: 'USD',
    amount: chance.between(-2, 2),
  }));
}

function recordEvents(
  chance: Chance,
  kind: Kind,
  key: Fields,
  times: readonly string[],
  content: () => Fields,
): ModelEvent[] {
  const record = recordOfLine(kind, key);
  return times.map((at) => {
    const isDeletion = chance.fraction() < chanceOfDeletion;
    const line = isDeletion
      ? { ...key, deleted_at: at }
      : { ...key, ...content(), created_at: createdAt, updated_at: at };
    return { kind, record, at, isDeletion, line };
  });
}

/** Up to three of the events are final. An active one may come before, between or after them. */
function grantEvents(chance: Chance, place: number, _twin: number, times: readonly string[]): ModelEvent[] {
  const partner_id = chance.oneOf(partners);
  const key = { customer_id: customerOf(place), id: `grant-${padded(place)}`, partner_id };
  const record = recordOfLine('grants', key);
  const finals = Array.from({ length: chance.between(0, 3) }, () => chance.between(0, times.length - 1));
  let expires: number | undefined;
  return times.map((at, index) => {
    if (chance.fraction() < 0.2) expires = (expires ?? expiryMs) - chance.between(1, 1_000_000);
    const line = {
      ...key,
      action: 'CHECKING_BALANCE',
      status: finals.includes(index) ? chance.oneOf(finalStatuses) : 'ACTIVE',
      ...(expires !== undefined && { expires_at: new Date(expires).toISOString() }),
      created_at: createdAt,
      updated_at: at,
    };
    return { kind: 'grants', record, at, isDeletion: false, line };
  });
}
