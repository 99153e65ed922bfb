import { hash } from 'node:crypto';
import { pageSize, profileImage } from '@partner-network/contract/limits';
import { imagesBounds } from '../bounds/images.ts';
import { publicAddressMark, type Reads } from '../store/port.ts';
import { type Download, download, type Reach } from './download.ts';
import { type ImageFault, imageFault, shownHost } from './faults.ts';
import { inspect } from './inspect.ts';

/** What is known of an image, and all that is wrong with it. */
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

/** A report for each of a partner's brands, in the order of their ids. */
export async function* checkBrandImages(
  store: Pick<Reads, 'listBrands'>,
  partnerId: string,
  reach: Reach,
  limitMs: number = imagesBounds.imageDownloadMs,
): AsyncGenerator<ImageReport> {
  const over = new AbortController();
  const get: Get = (url) => inTime(limitMs, over.signal, (signal) => download(url, reach, signal));
  const check = onceEach(severalAtATime((url) => checkImage(url, get)));
  const ahead: Promise<ImageReport>[] = [];
  try {
    for await (const { id, profile_image_url } of brandsOf(store, partnerId)) {
      ahead.push(report(id, profile_image_url, check));
      if (ahead.length === imagesBounds.imageResultsAhead) yield await ahead.shift()!;
    }
    yield* ahead;
  } finally {
    // When the database is lost, nobody wants the images that are still under way.
    over.abort();
  }
}

interface StoredBrand {
  readonly id: string;
  readonly profile_image_url: string;
}

/** The same pages that callers get, so that no more than one is in memory. */
async function* brandsOf(store: Pick<Reads, 'listBrands'>, partnerId: string): AsyncGenerator<StoredBrand> {
  let next: { after: string; walPosition?: bigint | undefined } | undefined = { after: '' };
  while (next !== undefined) {
    const query = { partnerId, referenceId: undefined, limit: pageSize.max, ...next };
    const page = await store.listBrands(query);
    // Without the mark, the placeholder's URL is a bare path.
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

type Get = (url: string) => Promise<Download>;

async function checkImage(address: string, get: Get): Promise<Findings> {
  const url = URL.parse(address);
  const host = url === null ? {} : { host: shownHost(url) };
  const downloaded = await get(address);
  if ('fault' in downloaded) {
    const { fault, ...announced } = downloaded;
    return { ...host, ...announced, errors: [fault] };
  }
  const { body, isWhole } = downloaded;
  const inspection = await inspect(body);
  return isWhole && body.length < profileImage.belowBytes
    ? { ...host, ...inspection, bytes: body.length }
    : { ...host, ...inspection, errors: [...inspection.errors, imageFault('TOO_LARGE')] };
}

/** With a signal that comes when the time is up or all is over, and that leaves nothing behind when not. */
async function inTime<T>(
  limitMs: number,
  over: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  if (over.aborted) stop();
  over.addEventListener('abort', stop);
  const timer = setTimeout(stop, limitMs);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    over.removeEventListener('abort', stop);
  }
}

/** Many brands may show one image. Remembers by digest: a URL may have 8,000 characters. */
function onceEach(check: Check): Check {
  const kept = new Map<string, Promise<Findings>>();
  return (url) => {
    const digest = hash('sha256', url, 'base64');
    const known = kept.get(digest);
    if (known !== undefined) return known;
    const findings = check(url);
    kept.set(digest, findings);
    if (kept.size > imagesBounds.imageResultsKept) kept.delete(kept.keys().next().value!);
    return findings;
  };
}

/** Lets so many run, and the others wait for their turn. */
function severalAtATime(check: Check): Check {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (url) => {
    if (running === imagesBounds.imageDownloads) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await check(url);
    } finally {
      // A place goes straight to the next in line.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
