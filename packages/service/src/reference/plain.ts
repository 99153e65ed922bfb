/** The reference as plain HTML, until the library has loaded and for readers without scripts. */
import { escapeMarkup as escaped } from '@partner-network/common/text';
import type { Guide } from './guides.ts';
import { inline, rendered } from './markdown.ts';

/** The parts of the OpenAPI document that the page shows. */
interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Named<{ readonly get: Operation }>;
  readonly components: {
    readonly schemas: Named<Schema>;
    readonly parameters: Named<Described>;
    readonly responses: Named<ResponseObject>;
    readonly securitySchemes: { readonly ApiKey: { readonly description: string } };
  };
}

type Named<Value> = Readonly<Record<string, Value>>;
type Ref = { readonly $ref: string };

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly [string];
  readonly parameters: readonly Ref[];
  readonly responses: { readonly 200: ResponseObject } & Named<ResponseObject | Ref>;
  readonly 'x-codeSamples': readonly { readonly lang: string; readonly source: string }[];
}

interface ResponseObject {
  readonly description: string;
  readonly content: { readonly 'application/json': { schema: Ref; examples: Named<{ value: Example }> } };
}

type Example = { readonly cursor?: string; readonly errors?: readonly { readonly code: string }[] };

type Bound = 'default' | 'minLength' | 'maxLength' | 'minimum' | 'maximum' | 'maxProperties';

interface Schema extends Readonly<Partial<Record<Bound, number>>> {
  readonly type: string;
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Named<Schema>;
  /** A list of records, or of words. */
  readonly items?: { readonly type?: string; readonly $ref?: string; readonly enum?: readonly string[] };
}

/** A parameter, or a field of a record. */
interface Described {
  readonly name: string;
  readonly required: boolean;
  readonly description?: string | undefined;
  readonly schema: Schema;
}

/** Renders the introduction, the operations, a list of the guides, and links that skip to an operation. */
export function plainReference(openapi: object, guides: readonly Guide[]) {
  const { info, servers, paths, components } = openapi as OpenApi;
  const base = escaped(servers[0]!.url);
  const operations = Object.entries(paths).map(([path, { get }]) => ({ path, get, id: idOf(path, get) }));
  const links = (words: string) =>
    operations.map(({ get, id }) => `<a href="#${id}">${words}${get.summary}</a>`);
  const plain = `<h1>${info.title}</h1>
<p>Version ${info.version} · Base URL <code>${base}</code></p>
${rendered(info.description)}
<nav aria-label="Contents">
<h2>Operations</h2>
${listOf(links(''))}
<h2>Guides</h2>
${guideIndex(guides)}
</nav>
<h2>Authentication</h2>
${rendered(components.securitySchemes.ApiKey.description)}
${operations.map(({ path, get, id }) => operationSection(components, get, id, base + path)).join('\n')}`;
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
function idOf(path: string, { tags }: Operation): string {
  return `tag/${tags[0].toLowerCase()}/GET${path}`;
}

function operationSection(
  { schemas, parameters, responses }: OpenApi['components'],
  operation: Operation,
  id: string,
  address: string,
): string {
  const named = operation.parameters.map(({ $ref }) => parameters[lastOf($ref)]!);
  const page = operation.responses[200].content['application/json'];
  const lists = Object.values(schemas[lastOf(page.schema.$ref)]!.properties!);
  const recordName = lastOf(lists.find(({ items }) => items !== undefined)!.items!.$ref!);
  const errors = Object.entries(operation.responses).flatMap(([status, response]) =>
    '$ref' in response ? [errorEntry(status, responses[lastOf(response.$ref)]!)] : [],
  );
  const curl = operation['x-codeSamples'].find(({ lang }) => lang === 'Shell');
  const example = Object.values(page.examples).find(({ value }) => value.cursor !== undefined);
  return `<section id="${id}">
<h2>${operation.summary}</h2>
<p><code>GET ${address}</code></p>
${rendered(operation.description)}
<pre><code>${escaped(curl?.source ?? '')}</code></pre>
<h3>Query parameters</h3>
<dl>${named.map(entry).join('')}</dl>
<h3>Response</h3>
<p>${inline(operation.responses[200].description)}</p>
<pre><code>${escaped(JSON.stringify(example?.value, undefined, 2))}</code></pre>
<h3>Fields of a ${recordName.toLowerCase()}</h3>
<dl>${fieldsOf(schemas[recordName]!).join('')}</dl>
<h3>Errors of ${operation.summary}</h3>
<dl>${errors.join('')}</dl>
</section>`;
}

function lastOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

export function fieldsOf({ properties = {}, required = [] }: Pick<Schema, 'properties' | 'required'>) {
  return Object.entries(properties).map(([name, schema]) =>
    entry({ name, required: required.includes(name), description: schema.description, schema }),
  );
}

/** An entry of a list of parameters or fields. */
export function entry({ name, required, description = '', schema }: Described): string {
  const bounds = [required ? 'required' : 'optional', ...boundsOf(schema)].join(', ');
  return `<dt><strong><code>${name}</code></strong> ${escaped(bounds)}</dt><dd>${inline(description)}</dd>`;
}

function errorEntry(status: string, { description, content }: ResponseObject): string {
  const errors = Object.values(content['application/json'].examples).flatMap(
    ({ value }) => value.errors ?? [],
  );
  const codes = [...new Set(errors.map(({ code }) => `<code>${code}</code>`))];
  return `<dt><strong>${status}</strong> ${codes.join(', ')}</dt><dd>${inline(description)}</dd>`;
}

function boundsOf(schema: Schema): string[] {
  const { type, format, minimum, minLength, maxProperties, items } = schema;
  if (items?.enum !== undefined) return [`list of ${items.enum.join(', ')}`];
  if (schema.enum !== undefined) return [schema.enum.join(' or ')];
  const bounds = [format === 'date-time' ? 'date and time' : type];
  if (schema.maximum !== undefined) bounds.push(`${minimum} to ${schema.maximum}`);
  if (minLength !== undefined) {
    const { maxLength } = schema;
    bounds.push(`${minLength === maxLength ? minLength : `${minLength} to ${maxLength}`} characters`);
  }
  if (maxProperties !== undefined) bounds.push(`at most ${maxProperties} keys`);
  if (schema.default !== undefined) bounds.push(`default ${schema.default}`);
  return bounds;
}
