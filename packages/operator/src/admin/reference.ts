/** The OpenAPI document of the administrative API, and its reference page: plain HTML, without a script. */
import { escapeMarkup as escaped } from '@partner-network/common/text';
import {
  type AdminOperation,
  type AdminResult,
  adminBasePath,
  adminOperations,
  errorStatusesOf,
} from '@partner-network/contract/admin/operations';
import { adminRecords } from '@partner-network/contract/admin/records';
import { adminRoleMeanings } from '@partner-network/contract/admin/roles';
import type { Route } from '@partner-network/http/handle';
import { bodyOf, bodyRoute } from '@partner-network/service/reference/body';
import { inline } from '@partner-network/service/reference/markdown';
import { entry, fieldsOf } from '@partner-network/service/reference/plain';
import { icon, plainHeaders, style } from '@partner-network/service/reference/routes';

const openApiPath = `${adminBasePath}/openapi.json`;
const jsonHeaders = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-cache'];

/** These paths need no key. */
export function referenceRoutes(publicUrl: () => string): [string, Route][] {
  const document = bodyOf(async () => {
    const { adminOpenApi } = await import('@partner-network/contract/admin/openapi');
    return Buffer.from(JSON.stringify(adminOpenApi(publicUrl())));
  });
  const page = bodyOf(async () => Buffer.from(pageOf(publicUrl())));
  return [
    [openApiPath, bodyRoute(document, jsonHeaders)],
    ['/docs', bodyRoute(page, plainHeaders)],
    style,
    icon,
  ];
}

const operations = Object.entries<AdminOperation>(adminOperations);

function pageOf(publicUrl: string): string {
  const links = operations.map(([id, { summary }]) => `<li><a href="#${id}">${escaped(summary)}</a></li>`);
  const roles = Object.entries(adminRoleMeanings).map(
    ([role, meaning]) => `<dt><code>${role}</code></dt><dd>${inline(meaning)}</dd>`,
  );
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
<main id="plain" class="plain">
<h1>Administrative API</h1>
<p>Base URL <code>${escaped(publicUrl + adminBasePath)}</code> · <a href="${openApiPath.slice(1)}">OpenAPI
document</a></p>
<p>Send an administrative key with every request: <code>Authorization: Bearer pna_…</code>. An operator
creates it with <code>partner-network admin-keys create</code>. Every request can be repeated: a lost answer
is never a doubled effect.</p>
<h2>Roles</h2>
<dl>${roles.join('')}</dl>
<nav aria-label="Operations"><h2>Operations</h2><ul>${links.join('')}</ul></nav>
${operations.map(([id, operation]) => sectionOf(id, operation, publicUrl)).join('\n')}
</main>
</body>
</html>
`;
}

function sectionOf(id: string, operation: AdminOperation, publicUrl: string): string {
  const { method, path, role, summary, description, parameters = {}, bodies = [] } = operation;
  const address = escaped(publicUrl + adminBasePath + path);
  const query = Object.entries(parameters).map(([name, parameter]) => entry({ name, ...parameter }));
  const statuses = [...(operation.statuses ?? [200]), ...errorStatusesOf(operation)];
  return `<section id="${id}">
<h2>${escaped(summary)}</h2>
<p><code>${method} ${address}</code></p>
${description === undefined ? '' : `<p>${inline(description)}</p>`}
<p>Role: <code>${role}</code>. Statuses: ${statuses.join(', ')}.</p>
${listOf('Query parameters', query)}
${bodies.map((body) => listOf('Fields of the body', fieldsOf(body))).join('')}
${listOf(`Fields of the answer: ${answerOf(operation.result)}`, fieldsOf(adminRecords[operation.result.of]))}
</section>`;
}

/** The form of an answer, such as `{"keys":[…],"cursor"?}`. */
function answerOf(result: AdminResult): string {
  if ('one' in result) return `{"${result.one}":{…}${result.secret ? ',"secret"?' : ''}}`;
  return 'list' in result ? `{"${result.list}":[…]${result.isPaged ? ',"cursor"?' : ''}}` : '{…}';
}

function listOf(heading: string, entries: readonly string[]): string {
  return entries.length === 0 ? '' : `<h3>${escaped(heading)}</h3>\n<dl>${entries.join('')}</dl>\n`;
}
