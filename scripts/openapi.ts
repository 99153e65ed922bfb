/** The OpenAPI documents of docs/, made from the contract. */
import { adminApi } from '@partner-network/contract/admin/openapi';
import { openApi } from '@partner-network/contract/openapi/document';
import { partnersApi } from '@partner-network/contract/openapi/partners';

export const openApiFile = new URL('../docs/openapi.json', import.meta.url);

export function openApiText(): string {
  return `${JSON.stringify(openApi(partnersApi()), null, 2)}\n`;
}

/** docs/admin-openapi.json. */
export function adminOpenApiText(): string {
  return `${JSON.stringify(openApi(adminApi()), null, 2)}\n`;
}
