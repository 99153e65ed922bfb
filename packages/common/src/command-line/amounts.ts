import { textOf } from '../text.ts';

const currencyCode = /^[A-Z]{3}$/;

/** Formats cents as $1,250.50. The digits are moved as text, because a float would round large amounts. */
export function money(amount: number, currency: string): string {
  // A value that is not an amount in cents is shown unchanged.
  const isAmount = Number.isSafeInteger(amount) && currencyCode.test(textOf(currency));
  if (!isAmount) return `${textOf(amount)} ${textOf(currency)}`;
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency });
  const { maximumFractionDigits: decimals = 0 } = format.resolvedOptions();
  return format.format(`${amount}E-${decimals}` as Intl.StringNumericLiteral);
}

/** A number and its noun: "1 key", "1200 keys". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** 2026-01-31T08:00:00.000Z as 2026-01-31 08:00, still in UTC. */
export function shortTime(time: string | undefined): string {
  return textOf(time).slice(0, 16).replace('T', ' ');
}
