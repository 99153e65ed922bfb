/** docs/openapi.json, made from the contract. `npm run docs` writes it; a test fails when it is old. */
import { writeFileSync } from 'node:fs';
import { openApiDocument } from '@partner-network/contract/openapi/document';

export const openApiFile = new URL('../docs/openapi.json', import.meta.url);

export function openApiText(): string {
  return `${JSON.stringify(openApiDocument(), null, 2)}\n`;
}

if (import.meta.main) writeFileSync(openApiFile, openApiText());
