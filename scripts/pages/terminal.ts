/** The picture of a terminal in README.md: commands on fixed data, run on a real terminal. */
import { readFileSync } from 'node:fs';
import { escapeMarkup } from '../../packages/common/src/text.ts';
import type { Store } from '../../packages/store/src/port.ts';
import { openLifetime } from '../../packages/testkit/fixtures/lifetime.ts';
import { commandLine } from '../../packages/testkit/fixtures/run.ts';
import { needsTerminal, onTerminal } from '../../packages/testkit/fixtures/terminal.ts';

const columns = 80;
const lineHeight = 18;
const cellWidth = 8.4;
const commands = [
  'partners rename PARTNER_JUNIPER Juniper',
  'partners list',
  'usage list',
  'keys revoke KEY_9',
];
const colors: Readonly<Record<string, string>> = { 31: '#ff8a80', 32: '#8fd694', 33: '#ffd479' };

/** The data of the picture, with fixed times, so that every run gives the same file. */
async function fill(store: Store): Promise<void> {
  const by = { actor: 'ops@network.example', action: 'partners create' } as const;
  const names = { BLUEBIRD: 'Bluebird Travel', JUNIPER: 'Juniper Living', NORTHWIND: 'Northwind Market' };
  for (const [word, name] of Object.entries(names))
    await store.createPartner({ id: `PARTNER_${word}`, name, created_at: '2027-01-04T09:00:00.000Z' }, by);
  await store.setPartnerDisabled('PARTNER_JUNIPER', '2027-01-30T09:00:00.000Z', by);
  const from = '2027-01-31T08:00:00.000Z';
  const codes = { OK: 288, RATE_LIMITED: 4, GRANT_EXPIRED: 1 };
  for (const [code, count] of Object.entries(codes)) {
    const operation = code === 'GRANT_EXPIRED' ? 'listBalances' : 'listBrands';
    await store.recordUsage([
      { from, partner_id: 'PARTNER_NORTHWIND', key_id: 'KEY_NORTHWIND', operation, code, count },
    ]);
  }
}

/** An SVG of the output. Without `script`, which gives a terminal, the picture stays unchanged. */
export async function terminalPicture(): Promise<string> {
  if (needsTerminal.skip)
    return readFileSync(new URL('../../docs/pictures/terminal.svg', import.meta.url), 'utf8');
  await using lifetime = openLifetime();
  const line = commandLine(lifetime);
  await line.inside(fill);
  const lines: string[] = [];
  for (const words of commands) {
    const terminal = onTerminal(lifetime, columns, words.split(' '), { DATABASE_URL: line.database });
    await terminal.ended;
    lines.push(`$ partner-network ${words}`, ...terminal.shown().trimEnd().split('\n'), '');
  }
  const height = lines.length * lineHeight + 12;
  const width = Math.ceil(columns * cellWidth) + 24;
  const rows = lines.map((text, index) => {
    const y = (index + 1) * lineHeight + 6;
    return `<text xml:space="preserve" x="12" y="${y}">${spans(text)}</text>`;
  });
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}
  font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#e8eaed">
<title>Commands of partner-network and their output</title>
<rect width="100%" height="100%" rx="8" fill="#1b1f24"/>
${rows.join('\n')}
</svg>
`;
}

/** The text of a line with the colors of its escape sequences. */
function spans(text: string): string {
  return escapeMarkup(text).replace(
    /\u001b\[(3[123])m(.*?)\u001b\[39m/g,
    (_, color: string, inside: string) => {
      return `<tspan fill="${colors[color]}">${inside}</tspan>`;
    },
  );
}
