import type { Environment } from '@partner-network/contract/environments';
import type { Rates } from '@partner-network/contract/openapi/document';
import type { Route } from '@partner-network/http/handle';
import { bodyOf, bodyRoute } from './body.ts';

const headers = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'public, max-age=300'];

/** Answers with the OpenAPI document of this service: its own address, and the rates that are set. */
export function openApiRoute(environment: Environment, rates: Rates, publicUrl: () => string): Route {
  const body = bodyOf(async () => {
    // Imported on first use, so that the start does not wait for it.
    const { openApiDocument } = await import('@partner-network/contract/openapi/document');
    const document = openApiDocument({ environment, publicUrl: publicUrl() }, rates);
    return Buffer.from(JSON.stringify(document));
  });
  return bodyRoute(body, headers);
}
