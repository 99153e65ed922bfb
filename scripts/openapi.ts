/** The OpenAPI documents of docs/, made from the contract. */
import { adminOpenApi } from '@partner-network/contract/admin/openapi';
import { openApiDocument } from '@partner-network/contract/openapi/document';

export const openApiFile = new URL('../docs/openapi.json', import.meta.url);

export function openApiText(): string {
  return `${JSON.stringify(openApiDocument(), null, 2)}\n`;
}

/** docs/admin-openapi.json. */
export function adminOpenApiText(): string {
  return `${JSON.stringify(adminOpenApi(), null, 2)}\n`;
}
