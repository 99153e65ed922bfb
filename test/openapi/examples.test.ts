/** Every example of the OpenAPI document is valid under its own schema. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { formats } from '../../packages/testkit/watch/compiled-schemas.ts';
import { openApiFile } from '../../scripts/openapi.ts';
import { examplesOf, type Json, resolve } from './document.ts';

const document: Json = JSON.parse(readFileSync(openApiFile, 'utf8'));
const { schemas, headers, parameters } = document.components;
const ajv = new Ajv2020({ strict: true, keywords: ['components'], formats });
ajv.addSchema({ $id: 'openapi', components: { schemas } });

function assertFits(schema: { $ref?: string }, value: unknown, where: string): void {
  const { $ref } = schema;
  const validate = $ref === undefined ? ajv.compile(schema) : ajv.getSchema(`openapi${$ref}`)!;
  assert.ok(validate(value), `${where}: ${JSON.stringify(value)} ${JSON.stringify(validate.errors)}`);
}

test('every example response fits its schema, and every listing shows a first and a last page', () => {
  for (const [path, { get }] of Object.entries<Json>(document.paths)) {
    for (const [status, part] of Object.entries(get.responses)) {
      const response = resolve(document, part);
      for (const [name, { value }] of examplesOf(response)) {
        assertFits(response.content['application/json'].schema, value, `${path} ${status} ${name}`);
      }
    }
    const pages = examplesOf(get.responses[200]).map(([, { value }]) => value);
    assert.ok(pages.some(({ cursor }) => cursor !== undefined));
    assert.ok(pages.some(({ cursor }) => cursor === undefined));
  }
});

test('the example of every field, parameter and header fits its schema', () => {
  let examples = 0;
  const shows = (schema: Json, where: string) => {
    for (const example of schema.examples ?? []) {
      assertFits(schema, example, where);
      examples += 1;
    }
  };
  for (const [name, { properties = {} }] of Object.entries<Json>(schemas)) {
    for (const [field, schema] of Object.entries<Json>(properties)) {
      if (schema.type !== 'array') shows(schema, `${name}.${field}`);
    }
  }
  for (const [name, { schema }] of Object.entries<Json>(headers)) shows(schema, name);
  for (const [name, { schema, example }] of Object.entries<Json>(parameters)) {
    if (example !== undefined) shows({ ...schema, examples: [example] }, name);
  }
  assert.ok(examples > 30, `${examples} examples`);
});
