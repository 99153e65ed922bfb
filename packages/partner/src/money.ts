import { textOf } from '@partner-network/common/text';

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
