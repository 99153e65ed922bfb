import type { Environment } from '@partner-network/contract/environments';
import type { Rates } from '@partner-network/contract/openapi';
import type { Route } from '../http/answer.ts';

/** Answers with the OpenAPI document of this very service: its own address, and the rates that are set. */
export function openApiRoute(environment: Environment, rates: Rates, publicUrl: () => string): Route {
  async function render(): Promise<Buffer> {
    // Loaded when somebody first reads it: a start does not wait for it.
    const { openApiDocument, serverOf } = await import('@partner-network/contract/openapi');
    const document = openApiDocument({ servers: [serverOf(environment, publicUrl())], rates });
    return Buffer.from(JSON.stringify(document));
  }

  let rendered: Promise<Buffer> | undefined;
  return async ({ headers }) => {
    rendered ??= render();
    const body = await rendered;
    headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'public, max-age=300');
    return body;
  };
}
