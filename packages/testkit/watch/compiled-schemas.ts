/**
 * The schemas of the OpenAPI document as functions. Ajv takes 0.1 s to compile them, for each of some 150
 * test processes. So the first process stores the compiled code, and the others load it.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

interface Validate {
  (value: unknown): boolean;
  readonly errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null;
}

/** Keyed by schema name, or by `headerKey`. */
type CompiledSchemas = Readonly<Record<string, Validate>>;

const folder = new URL('../../../node_modules/.cache/openapi/', import.meta.url);

export async function compiledSchemas(documentText: string): Promise<CompiledSchemas> {
  const hash = createHash('sha256')
    .update(documentText)
    .update(readFileSync(new URL(import.meta.url)));
  const file = fileURLToPath(new URL(`${hash.digest('hex').slice(0, 32)}.cjs`, folder));
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    // The rename makes the file appear complete: other processes look for it at the same time.
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, await compile(documentText));
    renameSync(unfinished, file);
  }
  return createRequire(import.meta.url)(file);
}

/** The name of the function that checks a header. */
export function headerKey(name: string): string {
  return `Header${name.replaceAll('-', '')}`;
}

/** Our times always have milliseconds and `Z`, which the document only states in words. */
const day = /\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?<!02-3.|(0[469]|11)-31)/;
const time = new RegExp(`^${day.source}T([01]\\d|2[0-3])(:[0-5]\\d){2}\\.\\d{3}Z$`);

/** Checks of formats. Integers are checked by their bounds. */
export const formats = {
  'date-time': time,
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  int32: true,
  int64: true,
} as const;

async function compile(documentText: string): Promise<string> {
  const [{ Ajv2020 }, { default: standalone }] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv/dist/standalone/index.js'),
  ]);
  const document = JSON.parse(documentText);
  const { schemas, headers } = document.components;
  // Partners must accept unknown fields, but our service may only send documented fields.
  for (const schema of Object.values<Record<string, unknown>>(schemas)) schema.additionalProperties = false;
  const ajv = new Ajv2020({ strict: false, allErrors: true, code: { source: true }, formats });
  ajv.addSchema(document, 'openapi');
  const names = Object.keys(schemas).map((name) => [name, `openapi#/components/schemas/${name}`]);
  const keys = Object.keys(headers).map((name) => [
    headerKey(name),
    `openapi#/components/headers/${name}/schema`,
  ]);
  return standalone.default(ajv, Object.fromEntries([...names, ...keys]));
}
