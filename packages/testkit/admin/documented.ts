/** Compares answers with the OpenAPI document of the administrative API. */
import assert from 'node:assert/strict';
import { adminApi } from '@partner-network/contract/admin/openapi';
import { adminBasePath, adminOperations } from '@partner-network/contract/admin/operations';
import { openApi } from '@partner-network/contract/openapi/document';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { matchPath } from '../../operator/src/admin/routes.ts';
import { formats } from '../watch/compiled-schemas.ts';

interface Response {
  readonly content: { readonly 'application/json': { readonly schema: object } };
}

interface Document {
  readonly paths: Readonly<
    Record<string, Record<string, { responses: Record<number, Response | { $ref: string }> }>>
  >;
  readonly components: { readonly responses: Readonly<Record<number, Response>> };
}

const { paths, components } = openApi(adminApi()) as Document;
const ajv = new Ajv2020({ strict: false, formats });

/** Every answer of a known path and method is in the document, and has the form that it says. */
export function assertDocumented(
  method: string,
  path: string,
  { status, body }: { readonly status: number; readonly body: unknown },
): void {
  const id = matchPath(adminBasePath + path.split('?')[0]!)?.[method]?.id;
  if (id === undefined) return;
  const operation = adminOperations[id];
  const methods = paths[operation.path.slice(adminBasePath.length)]!;
  const { responses } = methods[operation.method.toLowerCase()]!;
  const documented = responses[status];
  assert.ok(documented, `${id} does not document the status ${status}`);
  const { content } = '$ref' in documented ? components.responses[status]! : documented;
  const name = `${id}-${status}`;
  // With the components, to which its references lead.
  const own = () =>
    ajv.addSchema({ ...content['application/json'].schema, components }, name).getSchema(name)!;
  const validate = ajv.getSchema(name) ?? own();
  const isValid = validate(body);
  assert.ok(isValid, `${name}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body)}`);
}
