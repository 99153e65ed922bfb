/** docs/openapi.json, made from the contract. */
import { openApiDocument } from '@partner-network/contract/openapi/document';

export const openApiFile = new URL('../docs/openapi.json', import.meta.url);

export function openApiText(): string {
  return `${JSON.stringify(openApiDocument(), null, 2)}\n`;
}
