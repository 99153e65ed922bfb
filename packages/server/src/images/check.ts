import { hash } from 'node:crypto';
import { pageSize } from '@partner-network/contract/limits';
import { imagesBounds } from '../bounds/images.ts';
import { publicAddressMark, type Reads } from '../store/port.ts';
import { download, type Reach } from './download.ts';
import { type ImageFault, imageFault, shownHost } from './faults.ts';
import { inspect } from './inspect.ts';

/** The result of checking one image. Fields are absent where a fault kept them from being read. */
interface Findings {
  readonly host?: string;
  readonly format?: 'png' | 'jpg';
  readonly width?: number;
  readonly height?: number;
  readonly bytes?: number;
  readonly errors: readonly ImageFault[];
}

export interface ImageReport extends Findings {
  readonly brand_id: string;
  readonly status: 'ok' | 'faulty' | 'without_image';
}

/** Reports on the image of each of a partner's brands, in the order of their ids. */
export async function* checkBrandImages(
  store: Pick<Reads, 'listBrands'>,
  partnerId: string,
  reach: Reach,
  limitMs: number = imagesBounds.imageDownloadMs,
): AsyncGenerator<ImageReport> {
  const over = new AbortController();
  const check = cached(
    limited((url) => checkImage(url, reach, AbortSignal.any([over.signal, AbortSignal.timeout(limitMs)]))),
  );
  const ahead: Promise<ImageReport>[] = [];
  try {
    for await (const { id, profile_image_url } of brandsOf(store, partnerId)) {
      ahead.push(report(id, profile_image_url, check));
      if (ahead.length === imagesBounds.imageResultsAhead) yield await ahead.shift()!;
    }
    yield* ahead;
  } finally {
    // Ends the downloads that still run when the database fails.
    over.abort();
  }
}

interface StoredBrand {
  readonly id: string;
  readonly profile_image_url: string;
}

/** Reads the same pages as the listing, so that only one page is in memory. */
async function* brandsOf(store: Pick<Reads, 'listBrands'>, partnerId: string): AsyncGenerator<StoredBrand> {
  let next: { after: string; walPosition?: bigint | undefined } | undefined = { after: '' };
  while (next !== undefined) {
    const query = { partnerId, referenceId: undefined, limit: pageSize.max, ...next };
    const page = await store.listBrands(query);
    // Without the mark, the URL of the placeholder image is a bare path.
    yield* JSON.parse(`[${page.records.replaceAll(publicAddressMark, '')}]`) as StoredBrand[];
    next = page.next === undefined ? undefined : { after: page.next, walPosition: page.walPosition };
  }
}

type Check = (url: string) => Promise<Findings>;

async function report(brand_id: string, url: string, check: Check): Promise<ImageReport> {
  if (url.startsWith('/')) return { brand_id, status: 'without_image', errors: [] };
  const findings = await check(url);
  return { brand_id, status: findings.errors.length === 0 ? 'ok' : 'faulty', ...findings };
}

async function checkImage(address: string, reach: Reach, signal: AbortSignal): Promise<Findings> {
  const url = URL.parse(address);
  const host = url === null ? {} : { host: shownHost(url) };
  const downloaded = await download(address, reach, signal);
  if ('fault' in downloaded) {
    const { fault, ...announced } = downloaded;
    return { ...host, ...announced, errors: [fault] };
  }
  const { body, isWhole } = downloaded;
  const inspection = inspect(body);
  return isWhole
    ? { ...host, ...inspection, bytes: body.length }
    : { ...host, ...inspection, errors: [...inspection.errors, imageFault('TOO_LARGE')] };
}

/** Checks each URL once, because many brands may share an image. Keyed by digest: URLs may be long. */
function cached(check: Check): Check {
  const results = new Map<string, Promise<Findings>>();
  return (url) => {
    const digest = hash('sha256', url, 'base64');
    const known = results.get(digest);
    if (known !== undefined) return known;
    const findings = check(url);
    results.set(digest, findings);
    if (results.size > imagesBounds.imageResultsCached) results.delete(results.keys().next().value!);
    return findings;
  };
}

/** Runs at most `imageDownloads` checks at a time; the others wait in order. */
function limited(check: Check): Check {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (url) => {
    if (running === imagesBounds.imageDownloads) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await check(url);
    } finally {
      // Passes the place to the next in the queue.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
