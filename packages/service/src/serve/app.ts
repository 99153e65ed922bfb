import { readFileSync } from 'node:fs';
import type { Route } from '@partner-network/http/handle';
import { createKeyCache } from '../auth/authenticate.ts';
import { listings } from '../listings.ts';
import { referenceRoutes, type Surroundings } from '../reference/routes.ts';
import { listingRoute, type PipelineParts } from './pipeline.ts';

/** The parts of the service. It is built apart from listening, so that tests build the same service. */
export type Parts = PipelineParts & Surroundings;

const placeholderImage = readFileSync(new URL('../../assets/brand-placeholder.png', import.meta.url));

/** Every path of the public address. */
export function createApp(parts: Parts): ReadonlyMap<string, Route> {
  const keyCache = createKeyCache();
  const limiters = Object.entries(parts.limiters);
  const rates = Object.fromEntries(limiters.map(([name, { ratePerSecond }]) => [name, ratePerSecond]));
  return new Map<string, Route>([
    ...listings.map((listing): [string, Route] => [
      listing.operation.path,
      listingRoute(parts, keyCache, listing),
    ]),
    ['/assets/brand-placeholder.png', imageRoute],
    ...referenceRoutes(parts, rates),
  ]);
}

const imageRoute: Route = {
  answer: async ({ headers }) => {
    headers.push('Content-Type', 'image/png', 'Cache-Control', 'public, max-age=86400');
    return placeholderImage;
  },
};
