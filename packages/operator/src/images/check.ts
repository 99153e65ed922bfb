import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { imagesBounds } from '@partner-network/common/bounds/operator';
import { pageSize } from '@partner-network/contract/limits';
import { publicAddressMark, type Reads } from '@partner-network/store/port';
import { download, type Reach } from './download.ts';
import { type Inspection, imageFailure, inspect, shownHost } from './inspect.ts';

/** The result of checking one image. Fields are absent where a failure kept them from being read. */
interface Checked extends Inspection {
  readonly host?: string;
  readonly bytes?: number;
}

export interface ImageReport extends Checked {
  readonly brand_id: string;
  readonly status: 'ok' | 'faulty' | 'without_image';
}

/** Reports on the image of each of a partner's brands, in the order of their ids. */
export async function* checkBrandImages(
  store: Pick<Reads, 'listBrands'>,
  partnerId: string,
  reach: Reach,
  limitMs: number = imagesBounds.downloadMs,
): AsyncGenerator<ImageReport> {
  const over = new AbortController();
  const check = cached((url) =>
    checkImage(url, reach, AbortSignal.any([over.signal, AbortSignal.timeout(limitMs)])),
  );
  const parallel = {
    concurrency: imagesBounds.downloads,
    highWaterMark: imagesBounds.resultsAhead,
  };
  try {
    yield* Readable.from(brandsOf(store, partnerId)).map((brand) => report(brand, check), parallel);
  } finally {
    // Ends the downloads that still run when the command is ended or the database fails.
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

type Check = (url: string) => Promise<Checked>;

async function report({ id, profile_image_url }: StoredBrand, check: Check): Promise<ImageReport> {
  if (profile_image_url.startsWith('/')) return { brand_id: id, status: 'without_image', errors: [] };
  const checked = await check(profile_image_url);
  return { brand_id: id, status: checked.errors.length === 0 ? 'ok' : 'faulty', ...checked };
}

async function checkImage(address: string, reach: Reach, signal: AbortSignal): Promise<Checked> {
  const url = URL.parse(address);
  const host = url === null ? {} : { host: shownHost(url) };
  const downloaded = await download(address, reach, signal);
  if ('failure' in downloaded) {
    const { failure, ...announced } = downloaded;
    return { ...host, ...announced, errors: [failure] };
  }
  const { body, isWhole } = downloaded;
  const inspection = inspect(body);
  return isWhole
    ? { ...host, ...inspection, bytes: body.length }
    : { ...host, ...inspection, errors: [...inspection.errors, imageFailure('TOO_LARGE')] };
}

/** Checks each URL once, because many brands may share an image. Keyed by digest: URLs may be long. */
function cached(check: Check): Check {
  const results = new Map<string, Promise<Checked>>();
  return (url) => {
    const digest = hash('sha256', url, 'base64');
    const checked = results.get(digest) ?? check(url);
    results.set(digest, checked);
    if (results.size > imagesBounds.resultsCached) results.delete(results.keys().next().value!);
    return checked;
  };
}
