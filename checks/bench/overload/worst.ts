/** The most expensive requests of 16 KiB that we found, and what they cost. */
import { listBrands } from '@partner-network/contract/operations';
import { print } from '../../lib/program.ts';
import type { Partner } from '../lib/data.ts';
import { type Generator, startGenerator } from '../lib/load.ts';
import { startService } from '../lib/service.ts';
import { median } from '../lib/statistics.ts';

/** The CPU time of a request, in pages of 50 brands. */
const mostPages = 3;
const room = 15_800;
const roundSeconds = 0.5;
const rounds = 5;

/** As many different texts as there is room for, joined. */
function filled(joint: string, text: (index: number) => string): string {
  const texts: string[] = [];
  for (let bytes = 0; bytes < room; bytes += texts.at(-1)!.length + joint.length) {
    texts.push(text(texts.length));
  }
  return texts.slice(0, -1).join(joint);
}

const queryOf = (name: (index: number) => string) => `${listBrands.path}?${filled('&', name)}`;
const short = (index: number) => index.toString(36);
const escaped = (byte: number) => `%${byte.toString(16)}`;

/** By kind. A path may contain the rest of the request head up to the last header. */
const worstPaths: Readonly<Record<string, string>> = {
  'unknown names': queryOf(short),
  'names close to known ones': queryOf((index) => `referenc${short(index)}`),
  'broken UTF-8 in names': queryOf((index) => escaped(0x80 + (index % 64)) + short(index)),
  'names that look like keys': queryOf((index) => `pn_live_${short(index)}`),
  'the same name': queryOf(() => 'limit'),
  'empty parameters': `${listBrands.path}?${'&'.repeat(room)}`,
  'a long escaped value': `${listBrands.path}?reference_id=${'%F0%9F%A6%8A'.repeat(1_024)}`,
  'a long cursor': `${listBrands.path}?cursor=${'A'.repeat(1_024)}`,
  '190 headers': `${listBrands.path} HTTP/1.1\r\n${Array.from({ length: 190 }, (_, index) => `X${index}: ${'y'.repeat(60)}\r\n`).join('')}Last: x`,
};

export const worstPath = worstPaths['names close to known ones']!;

/** Whether no request costs much more CPU time than a page of 50 brands. */
export async function measureWorst(database: string, { key }: Partner): Promise<boolean> {
  const service = await startService(database, ['--brands-rate', '0']);
  const generator: Generator = startGenerator();
  const cpuOf = async (path: string): Promise<number> => {
    const stream = { requests: [{ path, key }], connections: 2 };
    const [played] = await generator.play(service, roundSeconds, stream);
    return played!.cpuSeconds / Object.values(played!.answers).flat().length;
  };
  for (const path of Object.values(worstPaths)) await cpuOf(path);
  const ratios = new Map(Object.keys(worstPaths).map((kind) => [kind, [] as number[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [kind, path] of Object.entries(worstPaths)) {
      // A page before each: the speed of the machine changes.
      const page = await cpuOf(listBrands.path);
      ratios.get(kind)!.push((await cpuOf(path)) / page);
    }
  }
  const costs = [...ratios].map(([kind, ofKind]) => ({ kind, pages: median(ofKind) }));
  for (const { kind, pages } of costs) {
    const verdict = pages <= mostPages ? 'ok     ' : 'not met';
    print(`${verdict} 16 KiB of ${kind}: the CPU time of ${pages.toFixed(1)} pages (goal: ${mostPages})`);
  }
  return costs.every(({ pages }) => pages <= mostPages);
}
