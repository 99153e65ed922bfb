/**
 * What a team would write instead: Fastify 5 with Kysely on pg, with schemas of requests and responses as its
 * documentation advises. It checks no key, counts no requests and seals no cursor, which is in its favor. Of
 * six that were compared it is the cheapest.
 */
import Fastify from 'fastify';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

const { DATABASE_URL, PARTNER_ID, PUBLIC_URL } = process.env;

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
const db = new Kysely({ dialect: new PostgresDialect({ pool }) });

const time = { type: 'string', format: 'date-time' };

const brandSchema = {
  type: 'object',
  required: ['id', 'name', 'created_at', 'updated_at', 'reference_id'],
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    created_at: time,
    updated_at: time,
    reference_id: { type: 'string' },
    color: { type: 'string' },
    profile_image_url: { type: 'string' },
    metadata: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

const schema = {
  querystring: {
    type: 'object',
    properties: {
      after: { type: 'string', minLength: 1, maxLength: 128 },
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
    },
  },
  response: {
    200: {
      type: 'object',
      required: ['brands'],
      properties: { brands: { type: 'array', items: brandSchema }, cursor: { type: 'string' } },
    },
  },
};

const columns = [
  'id',
  'name',
  'created_at',
  'updated_at',
  'reference_id',
  'color',
  'profile_image_url',
  'metadata',
];

/** Fields without a value become undefined, and so are left out. */
function brandOf(row) {
  return {
    ...row,
    color: row.color ?? undefined,
    profile_image_url: row.profile_image_url ?? `${PUBLIC_URL}/assets/brand-placeholder.png`,
    metadata: row.metadata ?? undefined,
  };
}

const app = Fastify();

app.get('/network/v1/brands', { schema }, async ({ query: { after, limit } }) => {
  let query = db.selectFrom('brands').select(columns).where('partner_id', '=', PARTNER_ID);
  if (after !== undefined) query = query.where('id', '>', after);
  const rows = await query
    .orderBy('id')
    .limit(limit + 1)
    .execute();
  const page = rows.slice(0, limit);
  return { brands: page.map(brandOf), cursor: rows.length > limit ? page.at(-1).id : undefined };
});

process.send(Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port));
process.once('disconnect', () => process.exit());
