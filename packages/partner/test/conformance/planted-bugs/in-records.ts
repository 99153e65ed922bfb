/** Bugs in records, pages and walks. */
import { asked, inBalance, inBrand, inPage, inQuery, inReply, type Planted, withQuery } from './plant.ts';

const first = (row: number) => row === 0;

export const bugsInRecords: readonly Planted[] = [
  {
    bug: 'a brand without a color has the color null',
    caughtBy: 'brands.record.no-null',
    plant: inBrand((brand) => ({ ...brand, color: brand.color ?? null })),
  },
  {
    bug: 'a color has three digits',
    caughtBy: 'brands.record.color',
    plant: inBrand((brand, row) => (first(row) ? { ...brand, color: '#abc' } : brand)),
  },
  {
    bug: 'a value of the metadata is a number',
    caughtBy: 'brands.record.metadata',
    plant: inBrand((brand, row) => (first(row) ? { ...brand, metadata: { tier: 1 } } : brand)),
  },
  {
    bug: 'the metadata is nested',
    caughtBy: 'brands.record.metadata',
    plant: inBrand((brand, row) => (first(row) ? { ...brand, metadata: { a: { b: 'c' } } } : brand)),
  },
  {
    bug: 'the metadata has 51 keys',
    caughtBy: 'brands.record.metadata',
    plant: inBrand((brand, row) => {
      const keys = Array.from({ length: 51 }, (_, key) => [`key${key}`, 'value']);
      return first(row) ? { ...brand, metadata: Object.fromEntries(keys) } : brand;
    }),
  },
  {
    bug: 'the name of a brand is empty',
    caughtBy: 'brands.record.name',
    plant: inBrand((brand, row) => (first(row) ? { ...brand, name: '' } : brand)),
  },
  {
    bug: 'the name of a brand has 1,025 characters',
    caughtBy: 'brands.record.name',
    plant: inBrand((brand, row) => (first(row) ? { ...brand, name: 'n'.repeat(1_025) } : brand)),
  },
  {
    bug: 'the id of a brand has 129 characters',
    caughtBy: 'brands.record.id',
    plant: inBrand((brand) => ({ ...brand, id: String(brand.id).padEnd(129, '0') })),
  },
  {
    bug: 'a brand has no reference_id',
    caughtBy: 'brands.record.reference_id',
    plant: inBrand(({ reference_id, ...brand }, row) => (first(row) ? brand : { ...brand, reference_id })),
  },
  {
    bug: 'a time of a brand has no Z',
    caughtBy: 'brands.record.created_at',
    plant: inBrand((brand) => ({ ...brand, created_at: String(brand.created_at).replace('Z', '') })),
  },
  {
    bug: 'a time of a brand is local time with an offset',
    caughtBy: 'brands.record.updated_at',
    plant: inBrand((brand) => ({ ...brand, updated_at: String(brand.updated_at).replace('Z', '+02:00') })),
  },
  {
    bug: 'a time has no milliseconds',
    caughtBy: 'brands.record.exact-times',
    plant: inBrand((brand) => ({ ...brand, created_at: String(brand.created_at).replace(/\.\d+/, '') })),
  },
  {
    bug: 'a brand was updated before it was created',
    caughtBy: 'brands.record.update-after-creation',
    plant: inBrand((brand) => ({ ...brand, updated_at: '2001-01-01T00:00:00.000Z' })),
  },
  {
    bug: 'the image of a brand is a path, not a URL',
    caughtBy: 'brands.record.profile_image_url',
    plant: inBrand((brand, row) =>
      first(row) ? { ...brand, profile_image_url: '/assets/logo.png' } : brand,
    ),
  },
  {
    bug: 'a brand without an image has no placeholder',
    caughtBy: 'brands.record.image-or-placeholder',
    plant: inBrand(({ profile_image_url, ...brand }) =>
      String(profile_image_url).includes('placeholder') ? brand : { ...brand, profile_image_url },
    ),
  },
  {
    bug: 'the fields of a brand stand in another order',
    caughtBy: 'brands.record.field-order',
    plant: inBrand(({ id, ...brand }) => ({ ...brand, id })),
  },
  {
    bug: 'a name has a control character',
    caughtBy: 'brands.record.no-control-characters',
    plant: inBrand((brand, row) => (first(row) ? { ...brand, name: `${brand.name}\u0007` } : brand)),
  },
  {
    bug: 'a brand has an internal field',
    caughtBy: 'brands.record.field-order',
    plant: inBrand((brand) => ({ ...brand, partner_id: 'PARTNER_1' })),
  },
  {
    bug: 'an amount is a string',
    caughtBy: 'balances.record.amount',
    plant: inBalance((balance) => ({ ...balance, amount: String(balance.amount) })),
  },
  {
    bug: 'an amount is in dollars, with a fraction',
    caughtBy: 'balances.record.amount',
    plant: inBalance((balance) => ({ ...balance, amount: Number(balance.amount) + 0.25 })),
  },
  {
    bug: 'an amount is larger than JavaScript can hold',
    caughtBy: 'balances.record.exact-amount',
    plant: inReply((reply) => ({
      ...reply,
      body: reply.body.replace(/"amount":-?\d+/, '"amount":9007199254740993'),
    })),
  },
  {
    bug: 'a currency is in lower case',
    caughtBy: 'balances.record.currency',
    plant: inBalance((balance) => ({ ...balance, currency: 'usd' })),
  },
  {
    bug: 'the type of a balance is another one than asked for',
    caughtBy: 'balances.record.type',
    plant: inBalance((balance, row) => (first(row) ? { ...balance, type: 'SAVINGS' } : balance)),
  },
  {
    bug: 'a balance of another customer is listed',
    caughtBy: 'balances.record.own-customer',
    plant: inBalance((balance, row) => (first(row) ? { ...balance, customer_id: 'someone-else' } : balance)),
  },
  {
    bug: 'a time of a balance is a number',
    caughtBy: 'balances.record.created_at',
    plant: inBalance((balance) => ({ ...balance, created_at: Date.parse(String(balance.created_at)) })),
  },
  {
    bug: 'the records are in a field named data',
    caughtBy: 'balances.page.shape',
    others: 40,
    plant: inPage('balances', ({ balances, ...page }) => ({ data: balances, ...page })),
  },
  {
    bug: 'the first record after a cursor is lost',
    caughtBy: 'brands.walk.complete',
    others: 5,
    plant: inPage('brands', (page, query) => {
      if (query.has('cursor')) page.brands.shift();
    }),
  },
  {
    bug: 'the last record of a page is not on the page, but on no other',
    caughtBy: 'balances.walk.complete',
    others: 5,
    plant: inPage('balances', (page) => {
      if (page.cursor !== undefined && page.balances.length > 1) page.balances.pop();
    }),
  },
  {
    bug: 'the last record of a page is also the first of the next page',
    caughtBy: 'brands.walk.unique',
    others: 6,
    plant: (() => {
      let last: Record<string, unknown> | undefined;
      return inPage('brands', (page, query) => {
        const repeated = query.has('cursor') ? last : undefined;
        last = page.brands.at(-1);
        if (repeated !== undefined) page.brands.unshift(repeated);
      });
    })(),
  },
  {
    bug: 'a record is twice on a page',
    caughtBy: 'balances.walk.unique',
    plant: inPage('balances', (page) => {
      if (page.balances.length > 2) page.balances[2] = page.balances[1]!;
    }),
  },
  {
    bug: 'brands come in descending order',
    caughtBy: 'brands.walk.order',
    others: 4,
    plant: inPage('brands', (page) => void page.brands.reverse()),
  },
  {
    bug: 'two balances of a page are exchanged',
    caughtBy: 'balances.walk.order',
    plant: inPage('balances', ({ balances }) => {
      if (balances.length > 2) [balances[0], balances[1]] = [balances[1]!, balances[0]!];
    }),
  },
  {
    bug: 'a page has a field that is not documented',
    caughtBy: 'brands.page.known-fields',
    plant: inPage('brands', (page) => ({ ...page, total: page.brands.length })),
  },
  {
    bug: 'an empty page with a cursor comes between two pages',
    caughtBy: 'brands.page.not-empty',
    others: 6,
    plant: async (sent, service, given) => {
      const cursor = asked(sent).query.get('cursor') ?? '';
      const isBetween = cursor !== '' && !cursor.endsWith('.');
      const plant = inPage('brands', (page) => (isBetween ? { brands: [], cursor: `${cursor}.` } : page));
      return plant(
        withQuery(sent, (query) => cursor && query.set('cursor', cursor.replace(/\.$/, ''))),
        service,
        given,
      );
    },
  },
  {
    bug: 'limit=100 is refused',
    caughtBy: 'brands.page.largest-limit',
    plant: inQuery('brands', (query) => query.get('limit') === '100' && query.set('limit', '101')),
  },
  {
    bug: 'the default page size is 25',
    caughtBy: 'brands.page.default-limit',
    plant: inQuery('brands', (query) => query.has('limit') || query.set('limit', '25')),
  },
  {
    bug: 'the limit is ignored',
    caughtBy: 'brands.page.limit',
    others: 4,
    plant: inQuery(
      'brands',
      (query) => /^[1-9]\d?$/.test(query.getAll('limit').join()) && query.delete('limit'),
    ),
  },
  {
    bug: 'a page has one record more than its limit',
    caughtBy: 'brands.page.limit',
    others: 4,
    plant: inQuery('brands', (query) => {
      const limit = query.getAll('limit').join();
      if (/^[1-9]\d?$/.test(limit)) query.set('limit', String(Number(limit) + 1));
    }),
  },
  {
    bug: 'the last page has the cursor null',
    caughtBy: 'brands.page.last',
    plant: inPage('brands', (page) => ({ ...page, cursor: page.cursor ?? null })),
  },
  {
    bug: 'the last page has an empty cursor',
    caughtBy: 'brands.page.last',
    plant: inPage('brands', (page) => ({ ...page, cursor: page.cursor ?? '' })),
  },
  {
    bug: 'the last page has a cursor, which leads to an empty page',
    caughtBy: 'brands.page.not-empty',
    plant: async (sent, service, given) => {
      const end = 'cursor-of-the-end';
      const isAtEnd = sent.target.includes(end);
      const before = isAtEnd ? withQuery(sent, (query) => query.delete('cursor')) : sent;
      const plant = inPage('brands', (page) =>
        isAtEnd ? { brands: [] } : { ...page, cursor: page.cursor ?? end },
      );
      return plant(before, service, given);
    },
  },
  {
    bug: 'the filter is ignored',
    caughtBy: 'brands.filter.match',
    others: 4,
    plant: inQuery('brands', (query) => {
      const [reference = '', ...more] = query.getAll('reference_id');
      if (more.length === 0 && /^[ -~]{1,1024}$/.test(reference)) query.delete('reference_id');
    }),
  },
  {
    bug: 'the filter also finds brands whose reference_id begins with the value',
    caughtBy: 'brands.filter.match',
    plant: inPage('brands', (page, query) => {
      const [first] = page.brands;
      const wanted = query.get('reference_id');
      if (wanted === null || first === undefined) return;
      page.brands.push({ ...first, id: `${first.id}-2`, reference_id: `${wanted}-2` });
    }),
  },
];
