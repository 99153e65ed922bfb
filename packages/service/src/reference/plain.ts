/** The reference of an API as plain HTML, for readers without scripts. */
import { escapeMarkup as escaped } from '@partner-network/common/text';
import {
  type Api,
  type ApiRefusal,
  type ApiResponse,
  parametersInOrder,
} from '@partner-network/contract/openapi/document';
import type { Operation, Result } from '@partner-network/contract/operations';
import type { FieldSchema, RecordSchema } from '@partner-network/contract/records';
import type { Guide } from './guides.ts';
import { inline, rendered } from './markdown.ts';

/** Renders the introduction, the operations, a list of the guides, and links that skip to an operation. */
export function plainReference(api: Api, guides: readonly Guide[] = []) {
  const { info, servers, keys } = api;
  const operations = Object.values(api.operations);
  const links = (words: string) =>
    operations.map((operation) => `<a href="#${idOf(api, operation)}">${words}${operation.summary}</a>`);
  const guideLinks = guides.length === 0 ? '' : `<h2>Guides</h2>\n${guideIndex(guides)}\n`;
  const plain = `<h1>${info.title}</h1>
<p>Version ${info.version} · Base URL <code>${escaped(servers[0]!.url)}</code></p>
${rendered(info.description)}
<nav aria-label="Contents">
<h2>Operations</h2>
${listOf(links(''))}
${guideLinks}</nav>
<h2>Authentication</h2>
${rendered(keys.scheme.description)}
${operations.map((operation) => operationSection(api, operation)).join('\n')}`;
  return { skipLinks: links('Skip to ').join('\n'), plain };
}

/** Renders the links to all guides. Their ids are those that the library gives the guides. */
export function guideIndex(guides: readonly Guide[]): string {
  return listOf(
    guides.map(({ name, title, address }) => `<a id="tag/${name}" href="${address}">${inline(title)}</a>`),
  );
}

function listOf(items: readonly string[]): string {
  return `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;
}

/** The id that the library gives an operation, so that links to it work on the plain page, too. */
function idOf({ basePath }: Api, { tag, method, path }: Operation): string {
  return `tag/${tag.toLowerCase()}/${method}${path.slice(basePath.length)}`;
}

function operationSection(api: Api, operation: Operation): string {
  const { method, path, summary, pathParameters = {}, bodies = [], statuses = [200], result } = operation;
  const address = escaped(api.servers[0]!.url + path.slice(api.basePath.length));
  const curl = api.samplesOf(operation).find(({ lang }) => lang === 'Shell');
  const inPath = Object.entries(pathParameters).map(([name, maxLength]) =>
    entry({ name, required: true, schema: { type: 'string', minLength: 1, maxLength } }),
  );
  const inQuery = parametersInOrder(operation).map((name) => entry({ name, ...operation.parameters[name]! }));
  const answers = statuses.map((status) => {
    const { description } = api.successOf(operation, status);
    return `<p>${statuses.length === 1 ? '' : `<strong>${status}</strong> `}${inline(description)}</p>`;
  });
  const errors = operation.errors.map((status) => errorEntry(status, api.refusalOf(operation, status)));
  const parts = [
    `<section id="${idOf(api, operation)}">`,
    `<h2>${summary}</h2>`,
    `<p><code>${method} ${address}</code></p>`,
    rendered(api.descriptionOf(operation)),
    `<pre><code>${escaped(curl?.source ?? '')}</code></pre>`,
    ...entries('Path parameters, percent-encoded', inPath),
    ...entries('Query parameters', inQuery),
    ...bodies.flatMap((body) => entries('Fields of the body', fieldsOf(body))),
    '<h3>Response</h3>',
    ...answers,
    `<pre><code>${escaped(exampleOf(api.successOf(operation, statuses[0]!)) ?? formOf(result))}</code></pre>`,
    ...entries(`Fields of ${inWords(result.of)}`, fieldsOf(api.schemas[result.of] as RecordSchema)),
    ...entries(`Errors of ${summary}`, errors),
    '</section>',
  ];
  return parts.join('\n');
}

function entries(heading: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`<h3>${heading}</h3>`, `<dl>${items.join('')}</dl>`];
}

/** A page that is not the last one. */
function exampleOf({ examples = {} }: ApiResponse): string | undefined {
  const example = Object.values(examples).find(({ value }) => 'cursor' in value);
  return example && JSON.stringify(example.value, undefined, 2);
}

/** The form of an answer, such as `{"keys":[…],"cursor"?}`. */
function formOf(result: Result): string {
  if ('one' in result) return `{"${result.one}":{…}${result.secret ? ',"secret"?' : ''}}`;
  return 'list' in result ? `{"${result.list}":[…]${result.isPaged ? ',"cursor"?' : ''}}` : '{…}';
}

/** `AuditEntry` becomes "an audit entry". */
function inWords(recordName: string): string {
  const words = recordName.replaceAll(/\B[A-Z]/g, ' $&').toLowerCase();
  return `${/^[aeio]/.test(words) ? 'an' : 'a'} ${words}`;
}

function fieldsOf({ required, properties }: RecordSchema): string[] {
  return Object.entries(properties).map(([name, schema]) =>
    entry({ name, required: required.includes(name), description: schema.description, schema }),
  );
}

/** A parameter, or a field of a record. */
interface Described {
  readonly name: string;
  readonly required: boolean;
  readonly description?: string | undefined;
  readonly schema: FieldSchema;
}

/** An entry of a list of parameters or fields. */
function entry({ name, required, description = '', schema }: Described): string {
  const bounds = [required ? 'required' : 'optional', ...boundsOf(schema)].join(', ');
  return `<dt><strong><code>${name}</code></strong> ${escaped(bounds)}</dt><dd>${inline(description)}</dd>`;
}

function errorEntry(status: number, { description, codes }: ApiRefusal): string {
  const listed = codes.map((code) => `<code>${code}</code>`).join(', ');
  return `<dt><strong>${status}</strong> ${listed}</dt><dd>${inline(description)}</dd>`;
}

function boundsOf(schema: FieldSchema): string[] {
  const { type, format, minimum, minLength, maxProperties, items } = schema;
  if (items?.enum !== undefined) return [`list of ${items.enum.join(', ')}`];
  if (schema.enum !== undefined) return [schema.enum.join(' or ')];
  const bounds = [format === 'date-time' ? 'date and time' : [type].flat().join(' or ')];
  if (schema.maximum !== undefined) bounds.push(`${minimum} to ${schema.maximum}`);
  if (minLength !== undefined) {
    const { maxLength } = schema;
    bounds.push(`${minLength === maxLength ? minLength : `${minLength} to ${maxLength}`} characters`);
  }
  if (maxProperties !== undefined) bounds.push(`at most ${maxProperties} keys`);
  if (schema.default !== undefined) bounds.push(`default ${schema.default}`);
  return bounds;
}
