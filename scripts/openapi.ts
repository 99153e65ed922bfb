/** docs/openapi.json from the contract. `npm run docs` writes it; a test fails if it is out of date. */
import { writeFileSync } from 'node:fs';
import { openApiDocument } from '@partner-network/contract/openapi/document';

export const openApiFile = new URL('../docs/openapi.json', import.meta.url);

export function openApiText(): string {
  return `${JSON.stringify(openApiDocument(), null, 2)}\n`;
}

if (import.meta.main) writeFileSync(openApiFile, openApiText());
