/** The OpenAPI document of the administrative API, and its reference page: plain HTML, without a script. */
import { adminApi } from '@partner-network/contract/admin/openapi';
import { adminBasePath } from '@partner-network/contract/admin/operations';
import { openApi } from '@partner-network/contract/openapi/document';
import { bodyOf, bodyRoute } from '@partner-network/http/content';
import type { Route } from '@partner-network/http/handle';
import { plainReference } from '@partner-network/service/reference/plain';
import { icon, plainHeaders, style } from '@partner-network/service/reference/routes';

const openApiPath = `${adminBasePath}/openapi.json`;
const jsonHeaders = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];

/** These paths need no key. */
export function referenceRoutes(publicUrl: () => string): [string, Route][] {
  const document = bodyOf(async () => Buffer.from(JSON.stringify(openApi(adminApi(publicUrl())))));
  const page = bodyOf(async () => Buffer.from(pageOf(publicUrl())));
  return [
    [openApiPath, bodyRoute(document, jsonHeaders)],
    ['/docs', bodyRoute(page, plainHeaders)],
    style,
    icon,
  ];
}

function pageOf(publicUrl: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Partner Network: administrative API</title>
<link rel="icon" type="image/svg+xml" href="${icon[0].slice(1)}">
<link rel="stylesheet" href="${style[0].slice(1)}">
</head>
<body>
<nav class="plain" aria-label="Document"><a href="${openApiPath.slice(1)}">OpenAPI document</a></nav>
<main id="plain" class="plain">
${plainReference(adminApi(publicUrl)).plain}
</main>
</body>
</html>
`;
}
