const currencyCode = /^[A-Z]{3}$/;

/** Cents as a person reads them, $1,250.50: by their digits, since a float would round large amounts. */
export function money(amount: number, currency: string): string {
  if (!currencyCode.test(currency)) return `${amount} ${currency}`;
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency });
  const { maximumFractionDigits: decimals = 0 } = format.resolvedOptions();
  return format.format(`${amount}E-${decimals}` as Intl.StringNumericLiteral);
}

/** 2026-01-31T08:00:00.000Z as 2026-01-31 08:00, still in UTC. */
export function shortTime(time: string | undefined): string {
  return time === undefined ? '' : time.slice(0, 16).replace('T', ' ');
}
