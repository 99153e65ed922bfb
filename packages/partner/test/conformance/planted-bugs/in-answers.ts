/**
 * Bugs, each with the case that must catch it in front of its name. Cases that expect one answer to one
 * request have no bug of their own: our own service passes them, and a deployment that is wrong throughout
 * fails them.
 */
import { formats, inFormat } from './formats.ts';
import {
  asked,
  inBalance,
  inBrand,
  inError,
  inPage,
  inQuery,
  inRefusal,
  inReply,
  json,
  keyOf,
  withKey,
  withQuery,
} from './plant.ts';
import { type Bug, type Bugs, type Sent, withHeader } from './proxy.ts';

const inRecords: Bugs = {
  'brands.record.no-null: a brand without a color has the color null': inBrand((brand) => ({
    ...brand,
    color: brand.color ?? null,
  })),
  'brands.record.color: a color has three digits': inBrand((brand) => ({ ...brand, color: '#abc' })),
  'brands.record.reference_id: a brand has no reference_id': inBrand(({ reference_id, ...brand }, row) =>
    row === 0 ? brand : { ...brand, reference_id },
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
  'brands.record.no-control-characters: a name has a control character': inBrand((brand) => ({
    ...brand,
    name: `${brand.name}\u0007`,
  })),
  'balances.record.exact-amount: an amount is larger than JavaScript can hold': inReply((reply) => ({
    ...reply,
    body: reply.body.replace(/"amount":-?\d+/, '"amount":9007199254740993'),
  })),
  'balances.record.own-customer: a balance of another customer is listed': inBalance((balance, row) =>
    row === 0 ? { ...balance, customer_id: 'someone-else' } : balance,
  ),
};

const inPages: Bugs = {
  'balances.page.shape: a cursor is a number': inPage('balances', ({ cursor, ...page }) =>
    cursor === undefined ? page : { ...page, cursor: 7 },
  ),
  'brands.walk.complete: the first record after a cursor is lost': inPage('brands', (page, query) => {
    if (query.has('cursor')) page.brands.shift();
  }),
  'balances.walk.unique: a record is twice on a page': inPage('balances', (page) => {
    if (page.balances.length > 2) page.balances[2] = page.balances[1]!;
  }),
  'balances.walk.order: the balances of a page come in the other direction': inPage('balances', (page) => {
    page.balances.reverse();
  }),
  'brands.page.known-fields: a page has a field that is not documented': inPage('brands', (page) => ({
    ...page,
    total: page.brands.length,
  })),
  'brands.page.not-empty: an empty page with a cursor comes between two pages': (sent, service, supplied) => {
    const cursor = asked(sent).query.get('cursor') ?? '';
    const isBetween = cursor !== '' && !cursor.endsWith('.');
    const plant = inPage('brands', (page) => (isBetween ? { brands: [], cursor: `${cursor}.` } : page));
    const toNext = (query: URLSearchParams) => cursor && query.set('cursor', cursor.replace(/\.$/, ''));
    return plant(withQuery(sent, toNext), service, supplied);
  },
  'brands.page.default-limit: the default page size is 25': inQuery(
    'brands',
    (query) => query.has('limit') || query.set('limit', '25'),
  ),
  'brands.page.limit: a page has one record more than its limit': inQuery('brands', (query) => {
    const limit = query.getAll('limit').join();
    if (/^[1-9]\d?$/.test(limit)) query.set('limit', String(Number(limit) + 1));
  }),
  'brands.page.last: the last page has the cursor null': inPage('brands', (page) => ({
    ...page,
    cursor: page.cursor ?? null,
  })),
  'brands.filter.match: the filter is ignored': inQuery('brands', (query) => {
    const [reference = '', ...more] = query.getAll('reference_id');
    if (more.length === 0 && /^[ -~]{1,1024}$/.test(reference)) query.delete('reference_id');
  }),
  'brands.filter.match: the filter finds one of several brands': inPage('brands', (page, query) =>
    query.has('reference_id') ? { brands: page.brands.slice(0, 1) } : page,
  ),
  'brands.filter.no-match: a reference_id that no brand has gives the first brand': inPage(
    'brands',
    (_, query) => query.get('reference_id')?.startsWith('conformance-') && { brands: [{ id: 'first' }] },
  ),
};

const inErrors: Bugs = {
  'brands.all-at-once: only the first fault of a request is reported': inRefusal(
    'VALUE_EMPTY',
    (reply, errors) => json(reply, { errors: errors.slice(0, 1) }),
  ),
  'balances.all-at-once: faults are reported in another order': inRefusal(
    'MISSING_REQUIRED_PARAMETER',
    (reply, errors) => json(reply, { errors: errors.toReversed() }),
  ),
  'brands.unknown.at-most-20: an answer has more than 20 errors': inRefusal(
    'UNKNOWN_QUERY_PARAMETER',
    (reply, errors) => json(reply, { errors: errors.length < 20 ? errors : [...errors, ...errors] }),
  ),
  'balances.type.other: an error names no field': inError(
    'INVALID_ENUM_VALUE',
    ({ field: _, ...error }) => error,
  ),
  'errors.records: an error has a category that does not exist': inError('INVALID_ENUM_VALUE', (error) => ({
    ...error,
    category: 'VALIDATION_ERROR',
  })),
  'brands.limit.over-100: an error has no detail': inError(
    'VALUE_TOO_HIGH',
    ({ detail: _, ...error }) => error,
  ),
  'brands.unknown.suggestion: an unknown parameter gets no suggestion': inError(
    'UNKNOWN_QUERY_PARAMETER',
    (error) => ({ ...error, detail: 'Remove it.' }),
  ),
  'errors.no-values: an error repeats a long value': inError('VALUE_TOO_LONG', (error, sent) => ({
    ...error,
    detail: `Shorten ${[...asked(sent).query.values()].find((value) => value.length > 64)}.`,
  })),
  'balances.invalid.type: errors come with the status 200': inRefusal('INVALID_ENUM_VALUE', (reply) => ({
    ...reply,
    status: 200,
  })),
  'errors.everywhere: an unknown path has an answer in HTML': inReply((reply) =>
    reply.status === 404
      ? { ...reply, headers: withHeader(reply.headers, 'Content-Type', 'text/html'), body: '<h1>404</h1>' }
      : reply,
  ),
};

/** Checks the parameters before what is refused with this status. */
const parametersBefore =
  (status: number): Bug =>
  async (sent, service, supplied) => {
    const reply = await service(sent);
    if (reply.status !== status) return reply;
    const byOwner = await service(withKey(sent, supplied.PARTNER_NETWORK_API_KEY));
    return byOwner.status === 400 ? byOwner : reply;
  };

/** Says more in the error for the requests that are meant. */
const discloses = (code: string, isMeant: (sent: Sent, supplied: Parameters<Bug>[2]) => boolean) =>
  inError(code, (error, sent, supplied) =>
    isMeant(sent, supplied) ? { ...error, detail: 'It exists.' } : error,
  );

/** Adds a brand of the partner to the pages of the other partner. */
function leaksBrand(): Bug {
  let own: Record<string, unknown> | undefined;
  return (sent, service, supplied) => {
    const isOther = keyOf(sent) === supplied.PARTNER_NETWORK_OTHER_PARTNER_API_KEY;
    const leak = inPage('brands', (page) => {
      if (isOther && own !== undefined) page.brands.unshift(own);
      if (!isOther) own ??= page.brands[0];
    });
    return leak(sent, service, supplied);
  };
}

/** Repeats the key in the error about it. */
const repeatsKey = inError('UNAUTHORIZED', (error, sent) => ({
  ...error,
  detail: `${keyOf(sent)} is unknown.`,
}));

const inAccess: Bugs = {
  'credentials.before-parameters: parameters are checked before the key': parametersBefore(401),
  'scopes.balances: parameters are checked before the scope': parametersBefore(403),
  'isolation.grant: the grant of another partner is answered in another way': discloses(
    'GRANT_NOT_FOUND',
    (sent, { PARTNER_NETWORK_GRANT_ID }) => asked(sent).query.get('grant_id') === PARTNER_NETWORK_GRANT_ID,
  ),
  'isolation.balances: the customer of another partner is answered in another way': discloses(
    'GRANT_NOT_FOUND',
    (sent, { PARTNER_NETWORK_CUSTOMER_ID }) =>
      asked(sent).query.get('customer_id') === PARTNER_NETWORK_CUSTOMER_ID,
  ),
  'isolation.customer: a customer without a grant is answered in another way': discloses(
    'GRANT_NOT_FOUND',
    (sent, { PARTNER_NETWORK_CUSTOMER_ID_WITHOUT_GRANT }) =>
      asked(sent).query.get('customer_id') === PARTNER_NETWORK_CUSTOMER_ID_WITHOUT_GRANT,
  ),
  'isolation.cursor: the cursor of another partner is answered in another way': discloses(
    'INVALID_CURSOR',
    (sent, { PARTNER_NETWORK_OTHER_PARTNER_API_KEY }) =>
      keyOf(sent) === PARTNER_NETWORK_OTHER_PARTNER_API_KEY && !sent.target.includes('conformance-'),
  ),
  'isolation.grant: one grant is answered with one space more than another': async (
    sent,
    service,
    { PARTNER_NETWORK_GRANT_ID },
  ) => {
    const reply = await service(sent);
    const isGrant = asked(sent).query.get('grant_id') === PARTNER_NETWORK_GRANT_ID;
    return isGrant && reply.status === 403 ? { ...reply, body: `${reply.body} ` } : reply;
  },
  "isolation.brands: a partner sees another partner's brand": leaksBrand(),
  ...Object.fromEntries(
    Object.entries(formats).map(([name, format]) => [
      `isolation.brands: a partner sees another partner's brand, in JSON with ${name}`,
      leaksInFormat(format),
    ]),
  ),
  'errors.no-values: an error repeats the key': repeatsKey,
  'errors.no-values: an error repeats the key, in JSON with every character escaped': inFormat(
    formats['every character escaped'],
    repeatsKey,
  ),
  'brands.cursor.again: every second answer to a cursor lacks a record': (() => {
    let isSecond = true;
    return inPage('brands', (page, query) => {
      isSecond = query.has('cursor') && !isSecond;
      if (isSecond) page.brands.pop();
    });
  })(),
};

/** Leaks a brand in this format. All other answers are in the usual format. */
function leaksInFormat(format: (typeof formats)[keyof typeof formats]): Bug {
  const usual = leaksBrand();
  const formatted = inFormat(format, usual);
  return (sent, service, supplied) => {
    const isOther = keyOf(sent) === supplied.PARTNER_NETWORK_OTHER_PARTNER_API_KEY;
    return (isOther ? formatted : usual)(sent, service, supplied);
  };
}

export const bugsInAnswers: Bugs = { ...inRecords, ...inPages, ...inErrors, ...inAccess };
