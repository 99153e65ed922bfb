/** The pages for partners, and what their commands and programs print. */
import assert from 'node:assert/strict';
import { brandsPerSecond } from '@partner-network/contract/limits';

interface Expected {
  /** The output of each command block. */
  readonly commands?: readonly RegExp[];
  /** The output of the page's programs, which are joined to one program. */
  readonly programs?: RegExp;
  /** Another check of the output, and of the seconds that it took. */
  readonly check?: (printed: readonly string[], seconds: number) => void;
}

/** The pages and their output. The last page uses up the rate. */
export const pages: Readonly<Record<string, Expected>> = {
  'quick-start.md': {
    commands: [/^$/, /"Golden Bakery"/, /^\{"id":"BRAND_\w+","name":"Little Greens",.*\}\n$/],
    programs: /^Golden Bakery\n(.+\n){119}$/,
  },
  'rehearse-failures.md': {
    commands: [
      /^200\n500\n200\n$/,
      /^\{"scenario":"server-error","run":"first",.*"reached-the-last-page","verdict":"pending"/,
      /^120 brands\n\{"scenario":"torn",.*last-page","verdict":"kept".*"resumed","verdict":"kept"/,
      /^SCENARIO .*\nserver-error +passed .*\ntorn +passed .*\nPassed: 2 of 2 scenarios\.\n$/,
    ],
    programs: /^120 brands\n$/,
  },
  'sandbox.md': {
    commands: [
      /^$/,
      /INSUFFICIENT_SCOPES/,
      /^(100[1-5] 200\n){5}(100[6-9] 403\n){4}1010 403\n$/,
      /^200\n200\n$/,
      /^Key KEY_JUNIPER is revoked.*\nNext: .*\n.*"API_KEY_REVOKED"/,
      /^.*VALUE_TOO_LONG.*MALFORMED_REQUEST.*METHOD_NOT_ALLOWED.*REQUEST_TOO_LARGE.*$/,
      /^HTTP\/1\.1 408 .*"code":"REQUEST_TIMEOUT"/s,
      /disabled.*\n.*"code":"PARTNER_DISABLED".*\n?.*enabled/s,
    ],
  },
  'brands.md': { commands: [/"shop-17"/], programs: /^Little Greens\n$/ },
  'balances.md': {
    commands: [/"amount":-4321/, /^(\{"id":"BAL_.*\}\n){3}$/, /GRANT_REVOKED/],
    programs: /^125050 USD\n9999 USD\n4200000 USD\n$/,
  },
  'pagination.md': {
    commands: [/^("reference_id":"shop-\d+"\n){120}$/, /^(\{"id":"BRAND_.*\}\n){120}$/],
    programs: /^120 brands\n(a page of 50\n){2}a page of 20\nresumed at shop-3\n$/,
  },
  'errors.md': {
    commands: [/VALUE_TOO_LOW.*VALUE_EMPTY/, /^x-request-id: [0-9a-f-]{36}\r\n$/i],
  },
  'command-line.md': {
    commands: [
      /^$/,
      /^(\{"id":"BRAND_.*\}\n){120}$/,
      /^(\{"id":"BAL_.*\}\n){3}$/,
      /^$/,
      /^\{"brands":\[\n\{.*"shop-17".*\}\n\]\}\n$/,
      /^curl .*customer_id=CUSTOMER_1005&type=CHECKING&limit=2'\n$/,
    ],
  },
  'error-catalogue.md': {},
  'environments-and-scopes.md': {},
  'keys.md': {
    commands: [/^200\n$/, /^No production key here\.\n$/],
  },
  'rate-limits.md': {
    commands: [
      /^RateLimit-Policy: "brands";q=50;w=1\r\nRateLimit: "brands";r=\d+;t=1\r\n$/,
      /^( *\d+ (200|429|503)\n)+$/,
    ],
    check: keepsToTheRate,
  },
};

/**
 * Of sixty requests within a second, some are refused. On a slow machine they take longer, or are shed with
 * a 503.
 */
function keepsToTheRate([, statuses = '']: readonly string[], seconds: number): void {
  const of = (status: number) => Number(new RegExp(`(\\d+) ${status}\\n`).exec(statuses)?.[1] ?? 0);
  const admitted = of(200);
  assert.equal(admitted + of(429) + of(503), 60);
  const most = brandsPerSecond * Math.ceil(seconds);
  assert.ok(admitted <= most, `${admitted} were admitted in ${seconds} s`);
}
