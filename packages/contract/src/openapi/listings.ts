/** What the document says about each listing. A missing listing does not compile. */
import { lengths } from '../limits.ts';
import { basePath, type ListingName, type ListingOperation } from '../operations.ts';
import { balanceSchema, brandSchema, type RecordSchema } from '../records.ts';

type Example = Readonly<Record<string, unknown>>;

export interface RecordText {
  readonly description: string;
  readonly schema: RecordSchema;
  /** Bounds of fields that only the document states. */
  readonly bounds?: Readonly<Record<string, object>>;
  readonly example: Example;
}

interface ListingText {
  readonly tag: string;
  readonly record: RecordText;
  readonly pages: (publicUrl: string) => Readonly<Record<string, { summary: string; value: object }>>;
}

export const exampleCursor =
  'AfD5TgmJOnp1QN8iRH4Qwyi6EjZbylHRpo9XPnMqeNRF7pjmUHlKGv_hUpK_GTG_xVR6xs6-TDFJG-Xd---GEG_X7XDTM0rqsbYYsA';

/** Examples are records of the sandbox's demo data, so that readers can get them. */
const exampleBrand = {
  id: 'BRAND_01943f5a256000005a881cd424e42a85',
  name: 'Golden Creamery',
  created_at: '2025-01-07T06:01:00.000Z',
  updated_at: '2025-01-18T01:01:00.000Z',
  reference_id: 'shop-4',
  color: '#14AA18',
  profile_image_url: 'https://images.example.com/logos/golden-creamery.png',
  metadata: { category: 'food', region: 'us-west' },
};

const brandWithoutImage = (publicUrl: string) => ({
  id: 'BRAND_019440daaae000004ffd020f5bd14dcc',
  name: 'Golden Greens',
  created_at: '2025-01-07T13:01:00.000Z',
  updated_at: '2025-01-27T09:01:00.000Z',
  reference_id: 'shop-5',
  color: '#2684E4',
  profile_image_url: `${publicUrl}/assets/brand-placeholder.png`,
});

const exampleBalance = {
  id: 'BAL_01943ad7aa800000358e8a0838a3235f',
  customer_id: 'CUSTOMER_1001',
  type: 'CHECKING',
  currency: 'USD',
  amount: 125_050,
  created_at: '2025-01-06T09:00:00.000Z',
  updated_at: '2025-02-05T09:00:00.000Z',
};

const otherBalance = {
  ...exampleBalance,
  id: 'BAL_01943b0e990000000833b9d1aa32d1ff',
  amount: 9_999,
  created_at: '2025-01-06T10:00:00.000Z',
  updated_at: '2025-02-05T10:00:00.000Z',
};

/** The last page comes first. A mock answers with the first example, and so a walk over all pages ends. */
function pagesOf(name: ListingName, first: readonly Example[], last: readonly Example[]) {
  return {
    'last-page': {
      summary: 'The last page. It has no cursor.',
      value: { [name]: last },
    },
    'more-to-come': {
      summary: 'A page with a cursor. Send it back to get the next page.',
      value: { [name]: first, cursor: exampleCursor },
    },
  };
}

export const listingTexts: Readonly<Record<ListingName, ListingText>> = {
  brands: {
    tag: 'Your brands. A brand is the entity that a customer perceives they are transacting with.',
    record: {
      description: 'A brand is the entity that a customer perceives they are transacting with.',
      schema: brandSchema,
      bounds: {
        color: { minLength: '#000000'.length, maxLength: '#000000'.length },
        metadata: { additionalProperties: { type: 'string', maxLength: lengths.metadataValue } },
      },
      example: exampleBrand,
    },
    pages: (publicUrl) => {
      const last = brandWithoutImage(publicUrl);
      return pagesOf('brands', [exampleBrand, last], [last]);
    },
  },
  balances: {
    tag: 'Balances of customers who gave you a grant. Beta: this operation may change.',
    record: {
      description: 'A balance of a customer.',
      schema: balanceSchema,
      example: exampleBalance,
    },
    pages: () => ({
      ...pagesOf('balances', [exampleBalance], [otherBalance]),
      'no-balances': {
        summary: 'The grant is active, but the customer has no balances.',
        value: { balances: [] },
      },
    }),
  },
};

/** The command that calls an operation with its required parameters. */
export function curlOf({ path, parameters }: ListingOperation): string {
  const required = Object.entries(parameters).filter(([, parameter]) => parameter.required);
  const query = required.map(([parameter, { example }]) => `${parameter}=${example}`).join('&');
  const address = `$PARTNER_NETWORK_BASE_URL${path.slice(basePath.length)}${query && `?${query}`}`;
  return `curl -H "Authorization: Bearer $PARTNER_NETWORK_API_KEY" "${address}"`;
}
