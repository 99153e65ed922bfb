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
import { adminLimits } from '@partner-network/contract/limits';
import { adminRoleMeanings } from '@partner-network/contract/permissions';
import type { RecordSchema } from '@partner-network/contract/records';
import { bodyOf, bodyRoute } from '@partner-network/http/content';
import type { Route } from '@partner-network/http/handle';
import { inline } from '@partner-network/service/reference/markdown';
import { entry, fieldsOf } from '@partner-network/service/reference/plain';
import { icon, plainHeaders, style } from '@partner-network/service/reference/routes';

const openApiPath = `${adminBasePath}/openapi.json`;
const jsonHeaders = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];

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
is never a doubled effect. A change may have a header <code>On-Behalf-Of: NAME</code>, for the audit log.</p>
<p>A batch has one record a line, or is a JSON list. It has at most ${adminLimits.batchLines} lines and
${adminLimits.batchBytes / 1024 / 1024} MiB, and may be packed with <code>Content-Encoding: gzip</code>.</p>
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
  const inPath = Object.entries(operation.pathParameters ?? {}).map(([name, maxLength]) =>
    entry({ name, required: true, schema: { type: 'string', minLength: 1, maxLength } }),
  );
  const statuses = [...(operation.statuses ?? [200]), ...errorStatusesOf(operation)];
  return `<section id="${id}">
<h2>${escaped(summary)}</h2>
<p><code>${method} ${address}</code></p>
${description === undefined ? '' : `<p>${inline(description)}</p>`}
<pre><code>${escaped(curlOf(operation, publicUrl))}</code></pre>
<p>Role: <code>${role}</code>. Statuses: ${statuses.join(', ')}.</p>
${listOf('Path, percent-encoded', inPath)}
${listOf('Query parameters', query)}
${bodies.map((body) => listOf('Fields of the body', fieldsOf(body))).join('')}
${listOf(`Fields of the answer: ${answerOf(operation.result)}`, fieldsOf(adminRecords[operation.result.of]))}
</section>`;
}

/** A command to paste. Its body has the required fields. */
function curlOf({ method, path, role, bodies, isBodyOptional }: AdminOperation, publicUrl: string): string {
  const isBatch = role === 'INGEST';
  const schema = isBodyOptional ? undefined : bodies?.at(-1);
  const type = isBatch ? 'application/x-ndjson' : 'application/json';
  const data = isBatch
    ? `--data-binary @${path.split('/')[1]}.jsonl`
    : schema && `--data '${exampleOf(schema)}'`;
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${publicUrl}${adminBasePath}${path}'`,
    `-H "Authorization: Bearer $${isBatch ? 'INGEST' : 'ADMIN'}_KEY"`,
    ...(data === undefined ? [] : [`-H 'Content-Type: ${type}'`, data]),
  ].join(' \\\n  ');
}

function exampleOf({ required, properties }: RecordSchema): string {
  const values = required.map((name) => [name, properties[name]?.items?.enum ?? '…']);
  return JSON.stringify(Object.fromEntries(values));
}

/** The form of an answer, such as `{"keys":[…],"cursor"?}`. */
function answerOf(result: AdminResult): string {
  if ('one' in result) return `{"${result.one}":{…}${result.secret ? ',"secret"?' : ''}}`;
  return 'list' in result ? `{"${result.list}":[…]${result.isPaged ? ',"cursor"?' : ''}}` : '{…}';
}

function listOf(heading: string, entries: readonly string[]): string {
  return entries.length === 0 ? '' : `<h3>${escaped(heading)}</h3>\n<dl>${entries.join('')}</dl>\n`;
}
