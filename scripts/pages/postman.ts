/** The collection for Postman: both listings, page by page, and an error. */
import { pageSize } from '@partner-network/contract/limits';
import { listingTexts } from '@partner-network/contract/openapi/listings';
import {
  basePath,
  type ListingOperation,
  listings,
  sandboxAddress,
} from '@partner-network/contract/operations';
import { capitalized } from '@partner-network/contract/sentence';
import { demoKeys } from '../../packages/operator/src/demo/data.ts';

const description = `List your brands, and the balances of customers who gave you a grant.

Set the variables \`baseUrl\` and \`apiKey\`. Their first values are for a sandbox on your own machine.

Send a request, then the request for the next page: a script saves the cursor in a variable. A run of the
collection reads all pages.`;

const nextNameOf = ({ name }: ListingOperation) => `Next page of ${name}`;
const invalidName = 'Invalid limit';

/** A request, and the script that tests its response. Optional parameters without a value are disabled. */
function request(
  name: string,
  { path, parameters, description }: ListingOperation,
  values: Readonly<Record<string, string>>,
  script: readonly string[],
) {
  const query = Object.entries(parameters)
    .filter(([key, { example }]) => key in values || example !== undefined)
    .map(([key, { required, description, example }]) => ({
      key,
      value: values[key] ?? String(example),
      description,
      ...(!required && !(key in values) && { disabled: true }),
    }));
  const segments = path.slice(basePath.length + 1).split('/');
  const enabled = query.filter((parameter) => !('disabled' in parameter));
  const sent = enabled.map(({ key, value }) => `${key}=${value}`).join('&');
  const raw = `{{baseUrl}}/${segments.join('/')}?${sent}`;
  return {
    name,
    request: {
      method: 'GET',
      description,
      url: { raw, host: ['{{baseUrl}}'], path: segments, query },
    },
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: script } }],
  };
}

function folderOf(operation: ListingOperation, following: string) {
  const cursor = `${operation.name}Cursor`;
  const script = [
    "pm.test('The response is a page', () => pm.response.to.have.status(200));",
    'const { cursor } = pm.response.json();',
    `pm.collectionVariables.set('${cursor}', cursor ?? '');`,
    '// A run of the collection continues with the next page, or with the next listing after the last page.',
    `pm.execution.setNextRequest(cursor ? '${nextNameOf(operation)}' : '${following}');`,
  ];
  const values = { customer_id: '{{customerId}}', limit: String(pageSize.default) };
  return {
    name: capitalized(operation.name),
    description: listingTexts[operation.name].tag,
    item: [
      request(operation.summary, operation, values, script),
      request(nextNameOf(operation), operation, { ...values, cursor: `{{${cursor}}}` }, script),
    ],
  };
}

export function postmanCollection(): string {
  const folders = listings.map((operation, index) => {
    const next = listings[index + 1];
    return folderOf(operation, next === undefined ? invalidName : next.summary);
  });
  const invalid = request(invalidName, listings[0]!, { limit: String(pageSize.max + 1) }, [
    "pm.test('The response is an error', () => pm.response.to.have.status(400));",
    "pm.test('The error names the parameter', () => {",
    "  pm.expect(pm.response.json().errors[0].field).to.equal('limit');",
    '});',
  ]);
  const cursors = listings.map(({ name }) => ({ key: `${name}Cursor`, value: '' }));
  const collection = {
    info: {
      name: 'Partner Network',
      description,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: sandboxAddress },
      { key: 'apiKey', value: demoKeys[0].text },
      { key: 'customerId', value: 'CUSTOMER_1001' },
      ...cursors,
    ],
    item: [...folders, invalid],
  };
  return `${JSON.stringify(collection, null, 2)}\n`;
}
