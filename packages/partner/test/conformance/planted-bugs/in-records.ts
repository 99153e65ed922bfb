/** Bugs in records, pages and walks. */
import { asked, inBalance, inBrand, inPage, inQuery, inReply, plantedIn, withQuery } from './plant.ts';

const first = (row: number) => row === 0;

export const bugsInRecords = plantedIn({
  'brands.record.no-null: a brand without a color has the color null': inBrand((brand) => ({
    ...brand,
    color: brand.color ?? null,
  })),
  'brands.record.color: a color has three digits': inBrand((brand, row) =>
    first(row) ? { ...brand, color: '#abc' } : brand,
  ),
  'brands.record.reference_id: a brand has no reference_id': inBrand(({ reference_id, ...brand }, row) =>
    first(row) ? brand : { ...brand, reference_id },
  ),
  'brands.record.exact-times: a time has no milliseconds': inBrand((brand) => ({
    ...brand,
    created_at: String(brand.created_at).replace(/\.\d+/, ''),
  })),
  'brands.record.update-after-creation: a brand was updated before it was created': inBrand((brand) => ({
    ...brand,
    updated_at: '2001-01-01T00:00:00.000Z',
  })),
  'brands.record.image-or-placeholder: a brand without an image has no placeholder': inBrand(
    ({ profile_image_url, ...brand }) =>
      String(profile_image_url).includes('placeholder') ? brand : { ...brand, profile_image_url },
  ),
  'brands.record.field-order: the fields of a brand stand in another order': inBrand(({ id, ...brand }) => ({
    ...brand,
    id,
  })),
  'brands.record.no-control-characters: a name has a control character': inBrand((brand, row) =>
    first(row) ? { ...brand, name: `${brand.name}\u0007` } : brand,
  ),
  'balances.record.amount: an amount is a string': inBalance((balance) => ({
    ...balance,
    amount: String(balance.amount),
  })),
  'balances.record.exact-amount: an amount is larger than JavaScript can hold': inReply((reply) => ({
    ...reply,
    body: reply.body.replace(/"amount":-?\d+/, '"amount":9007199254740993'),
  })),
  'balances.record.own-customer: a balance of another customer is listed': inBalance((balance, row) =>
    first(row) ? { ...balance, customer_id: 'someone-else' } : balance,
  ),
  'balances.page.shape +40: the records are in a field named data': inPage(
    'balances',
    ({ balances, ...page }) => ({ data: balances, ...page }),
  ),
  'brands.walk.complete +5: the first record after a cursor is lost': inPage('brands', (page, query) => {
    if (query.has('cursor')) page.brands.shift();
  }),
  'brands.walk.unique +6: the last record of a page is also the first of the next page': (() => {
    let last: Record<string, unknown> | undefined;
    return inPage('brands', (page, query) => {
      const repeated = query.has('cursor') ? last : undefined;
      last = page.brands.at(-1);
      if (repeated !== undefined) page.brands.unshift(repeated);
    });
  })(),
  'balances.walk.unique: a record is twice on a page': inPage('balances', (page) => {
    if (page.balances.length > 2) page.balances[2] = page.balances[1]!;
  }),
  'balances.walk.order: two balances of a page are exchanged': inPage('balances', ({ balances }) => {
    if (balances.length > 2) [balances[0], balances[1]] = [balances[1]!, balances[0]!];
  }),
  'brands.page.known-fields: a page has a field that is not documented': inPage('brands', (page) => ({
    ...page,
    total: page.brands.length,
  })),
  'brands.page.not-empty +6: an empty page with a cursor comes between two pages': async (
    sent,
    service,
    supplied,
  ) => {
    const cursor = asked(sent).query.get('cursor') ?? '';
    const isBetween = cursor !== '' && !cursor.endsWith('.');
    const plant = inPage('brands', (page) => (isBetween ? { brands: [], cursor: `${cursor}.` } : page));
    return plant(
      withQuery(sent, (query) => cursor && query.set('cursor', cursor.replace(/\.$/, ''))),
      service,
      supplied,
    );
  },
  'brands.page.largest-limit: limit=100 is refused': inQuery(
    'brands',
    (query) => query.get('limit') === '100' && query.set('limit', '101'),
  ),
  'brands.page.default-limit: the default page size is 25': inQuery(
    'brands',
    (query) => query.has('limit') || query.set('limit', '25'),
  ),
  'brands.page.limit +4: a page has one record more than its limit': inQuery('brands', (query) => {
    const limit = query.getAll('limit').join();
    if (/^[1-9]\d?$/.test(limit)) query.set('limit', String(Number(limit) + 1));
  }),
  'brands.page.last: the last page has the cursor null': inPage('brands', (page) => ({
    ...page,
    cursor: page.cursor ?? null,
  })),
  'brands.filter.match +4: the filter is ignored': inQuery('brands', (query) => {
    const [reference = '', ...more] = query.getAll('reference_id');
    if (more.length === 0 && /^[ -~]{1,1024}$/.test(reference)) query.delete('reference_id');
  }),
  'brands.filter.match: the filter finds one of several brands': inPage('brands', (page, query) =>
    query.has('reference_id') ? { brands: page.brands.slice(0, 1) } : page,
  ),
});
