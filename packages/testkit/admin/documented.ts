/** Compares answers with the OpenAPI document of the administrative API. */
import assert from 'node:assert/strict';
import { adminApi } from '@partner-network/contract/admin/openapi';
import { adminBasePath } from '@partner-network/contract/admin/operations';
import { openApi } from '@partner-network/contract/openapi/document';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { matchPath } from '../../operator/src/admin/routes.ts';
import { formats } from '../watch/compiled-schemas.ts';

type Responses = Readonly<Record<string, object>>;
interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { operationId: string; responses: Responses }>>>
  >;
}

const document = openApi(adminApi()) as Document;
const ajv = new Ajv2020({ strict: false, formats });
ajv.addSchema({ $id: 'admin', ...document });

/** The pointer of each response, by operation and status. */
const pointers = new Map<string, string>();
for (const [path, methods] of Object.entries(document.paths)) {
  for (const [method, { operationId, responses }] of Object.entries(methods)) {
    for (const [status, response] of Object.entries(responses)) {
      const place = ['paths', path, method, 'responses', status].map(escapedPart).join('/');
      const own = '$ref' in response ? `components/responses/${status}` : place;
      pointers.set(`${operationId} ${status}`, `admin#/${own}/content/application~1json/schema`);
    }
  }
}

function escapedPart(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Every answer of a known path and method is in the document, and has the form that it says. */
export function assertDocumented(
  method: string,
  path: string,
  { status, body }: { readonly status: number; readonly body: unknown },
): void {
  const id = matchPath(adminBasePath + path.split('?')[0]!)?.[method]?.id;
  if (id === undefined) return;
  const pointer = pointers.get(`${id} ${status}`);
  assert.ok(pointer, `${id} does not document the status ${status}`);
  const validate = ajv.getSchema(pointer);
  assert.ok(
    validate?.(body),
    `${id} ${status}: ${ajv.errorsText(validate?.errors)}\n${JSON.stringify(body)}`,
  );
}
