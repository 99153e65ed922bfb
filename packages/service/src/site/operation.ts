/** The page of an operation, as Markdown, and the form that sends it. */
import { escapeMarkup as escaped } from '@partner-network/common/text';
import { type AnyErrorCode, errorCatalogue, everyError } from '@partner-network/contract/errors';
import {
  type Api,
  type ApiRefusal,
  type ApiResponse,
  parametersInOrder,
} from '@partner-network/contract/openapi/document';
import type { Operation, Result } from '@partner-network/contract/operations';
import type { FieldSchema, RecordSchema } from '@partner-network/contract/records';
import { capitalized } from '@partner-network/contract/sentence';
import { inline } from './markdown.ts';

export interface Sample {
  readonly label: string;
  /** Its name in Markdown. */
  readonly language: string;
  readonly source: string;
}

/** A wide screen shows the sections from "Example request" to "Example responses" in a second column. */
export function operationPage<O extends Operation>(
  api: Api<O>,
  operation: O,
  samples: readonly Sample[],
  before = '',
) {
  const { method, path, pathParameters = {}, bodies = [], statuses = [200], result } = operation;
  const answers = statuses.map((status): [number, ApiResponse] => [status, api.successOf(operation, status)]);
  const refusals = operation.errors.map((status): [number, ApiRefusal] => [
    status,
    api.refusalOf(operation, status),
  ]);
  const inPath = Object.entries(pathParameters).map(([name, maxLength]) => {
    const description = 'In the path, percent-encoded.';
    return { name, required: true, description, schema: { type: 'string', minLength: 1, maxLength } };
  });
  const inQuery = parametersInOrder(operation).map((name) => ({ name, ...operation.parameters[name]! }));
  const forms = bodies.map((body) => table('Field', fieldsOf(body)));
  const fields = fieldsOf(api.schemas[result.of] as RecordSchema);
  return [
    `# ${operation.summary}`,
    api.descriptionOf(operation),
    `\`\`\`text\n${method} ${api.servers[0]!.url}${path.slice(api.basePath.length)}\n\`\`\``,
    `## Example request\n\n${before}`,
    samples.map(({ label, language, source }) => fence(language, label, source)).join('\n'),
    '## Try it',
    fence('sh', '', api.curlOf(operation)),
    '## Example responses',
    [...answers, ...refusals].map(([status, response]) => exampleOf(status, response, result)).join('\n'),
    '## Parameters',
    inPath.length + inQuery.length === 0 ? 'None.' : table('Parameter', [...inPath, ...inQuery]),
    ...(bodies.length === 0 ? [] : ['## Fields of the body', forms.join('\n\nOr:\n\n')]),
    '## Response',
    ...answers.map(([status, { description }]) => `**${status}** ${description}`),
    `### Fields of \`${result.of}\``,
    table('Field', fields),
    '## Errors',
    errorTable(refusals),
  ].join('\n\n');
}

/** A code block whose title is the label of its tab. */
function fence(language: string, title: string, source: string): string {
  return `\`\`\`${language}${title && ` title="${title}"`}\n${source.trimEnd()}\n\`\`\``;
}

/** A page that is not the last one, or one error; the form of the answer if it has no examples. */
function exampleOf(status: number, { examples = {}, ...response }: ApiResponse, result: Result): string {
  const all = Object.values(examples);
  const { value } = all.find(({ value }) => 'cursor' in value) ?? all[0] ?? {};
  const codes: readonly AnyErrorCode[] = 'codes' in response ? (response as ApiRefusal).codes : [];
  const { category, detail } = everyError[codes[0] ?? 'NOT_FOUND'];
  const shown = value ?? (codes.length > 0 && { errors: [{ category, code: codes[0], detail }] });
  const source = shown ? JSON.stringify(shown, undefined, 2) : formOf(result);
  return fence('json', String(status), source);
}

/** The form of an answer, such as `{"keys":[…],"cursor"?}`. */
function formOf(result: Result): string {
  if ('one' in result) return `{"${result.one}":{…}${result.secret ? ',"secret"?' : ''}}`;
  return 'list' in result ? `{"${result.list}":[…]${result.isPaged ? ',"cursor"?' : ''}}` : '{…}';
}

/** A parameter, or a field of a record. */
interface Described {
  readonly name: string;
  readonly required: boolean;
  readonly description?: string | undefined;
  readonly schema: FieldSchema;
}

function fieldsOf({ required, properties }: RecordSchema): Described[] {
  return Object.entries(properties).map(([name, schema]) => {
    return { name, required: required.includes(name), description: schema.description, schema };
  });
}

function table(heading: string, rows: readonly Described[]): string {
  const lines = rows.map(({ name, required, description = '', schema }) => {
    const limits = `*${required ? 'Required.' : 'Optional.'} ${boundsOf(schema)}*`;
    return `| \`${name}\` | ${limits} ${description.replaceAll('|', '\\|')} |`;
  });
  return [`| ${heading} | Type, limits and meaning |`, '|---|---|', ...lines].join('\n');
}

function errorTable(refusals: readonly (readonly [number, ApiRefusal])[]): string {
  const lines = refusals.flatMap(([status, { codes }]) =>
    codes.map((code) => `| ${linkTo(code)} | *${status}* ${everyError[code].when} |`),
  );
  return ['| Code | Status and condition |', '|---|---|', ...lines].join('\n');
}

/** The catalogue has the errors for partners. Those of the administrative API alone are only listed. */
function linkTo(code: AnyErrorCode): string {
  return code in errorCatalogue ? `[\`${code}\`](/docs/errors#${code.toLowerCase()})` : `\`${code}\``;
}

/** Its type and limits, as sentences. */
export function boundsOf(schema: FieldSchema): string {
  const { type, format, minimum, minLength = 0, maxLength, maxProperties, items } = schema;
  if (items?.enum !== undefined) return `List of ${listed(items.enum)}.`;
  if (schema.enum !== undefined)
    return `${schema.enum.length === 1 ? 'Always' : 'One of'} ${listed(schema.enum)}.`;
  const bounds = [format === 'date-time' ? 'Time' : capitalized([type].flat().join(' or '))];
  if (schema.maximum !== undefined) bounds.push(`${minimum} to ${schema.maximum}`);
  if (maxLength !== undefined)
    bounds.push(`${minLength === maxLength ? '' : `${minLength} to `}${maxLength} characters`);
  if (maxProperties !== undefined) bounds.push(`at most ${maxProperties} keys`);
  return `${bounds.join(', ')}.${schema.default === undefined ? '' : ` Default: ${schema.default}.`}`;
}

function listed(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(' or ');
}

/** A form to try an operation. Scripts show it and send it. Nothing limits what the reader types. */
export function tryForm(operation: Operation, demoKey = ''): string {
  const { method, path, parameters } = operation;
  const field = (name: string, id: string, hint: string, value: string, more = '', beside = '') =>
    `<label class="label" for="try-${id}">${name}</label>
<input id="try-${id}" ${more} value="${escaped(value)}" aria-describedby="hint-${id}"
 autocomplete="off" spellcheck="false">
<div class="hint pair"><span id="hint-${id}">${inline(hint)}</span>${beside}</div>`;
  const fields = parametersInOrder(operation).map((name) => {
    const { required, schema, example } = parameters[name]!;
    const hint = `${required ? 'Required.' : 'Optional.'} ${boundsOf(schema)}`;
    const empty = `<label class="check"><input type="checkbox" name="${name}"> send it empty</label>`;
    const value = required ? String(example) : '';
    return field(`<code>${name}</code>`, name, hint, value, `data-parameter="${name}"`, empty);
  });
  const keyHint = 'It stays in this page: no storage of the browser gets it.';
  const restHint = 'Sent as typed, such as `limit=1&limit=2`. Spaces and `#` are encoded.';
  return `<form class="try" method="${method.toLowerCase()}" action="../..${path}" hidden>
${field('API key', 'key', keyHint, demoKey, 'class="secret"')}
${fields.join('\n')}
${field('More of the query', 'rest', restHint, '')}
<p class="hint">The request with curl:</p>
<pre><code data-curl></code></pre>
<p class="actions"><button class="primary">Send</button>
<button type="button" data-next hidden>Next page</button></p>
<section data-answer aria-live="polite" aria-label="Response"></section>
</form>`;
}
