/** The OpenAPI document of the administrative API, and its site: a page for each operation. */
import { adminApi } from '@partner-network/contract/admin/openapi';
import { adminBasePath, adminOperations } from '@partner-network/contract/admin/operations';
import { openApi } from '@partner-network/contract/openapi/document';
import { bodyOf, bodyRoute } from '@partner-network/http/content';
import type { Route } from '@partner-network/http/handle';
import { operationPage } from '@partner-network/service/site/operation';
import { createSite } from '@partner-network/service/site/site';
import { startPage } from '@partner-network/service/site/start';

const openApiPath = `${adminBasePath}/openapi.json`;
const jsonHeaders = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];

/** These paths need no key. */
export function createReference(publicUrl: () => string) {
  const document = bodyOf(async () => Buffer.from(JSON.stringify(openApi(adminApi(publicUrl())))));
  const start = {
    path: '/docs',
    group: 'Start',
    async markdown() {
      const api = adminApi(publicUrl());
      return startPage(api, `\`\`\`text\n${api.servers[0]!.url}\n\`\`\``, openApiPath);
    },
  };
  const operations = Object.entries(adminOperations).map(([id, operation]) => ({
    path: `/docs/operations/${id}`,
    group: operation.tag,
    async markdown() {
      const api = adminApi(publicUrl());
      const sample = { label: 'curl', language: 'sh', source: api.curlOf(operation) };
      return operationPage(api, operation, [sample]);
    },
  }));
  const { routes, refusalPage } = createSite('Administrative API', 'operators', [start, ...operations]);
  const own: [string, Route] = [openApiPath, bodyRoute(document, jsonHeaders)];
  return { routes: [own, ...routes], refusalPage };
}
