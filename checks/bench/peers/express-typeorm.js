/** Express 5 with TypeORM: an entity, a repository, and its rows as entities. */
import express from 'express';
import { DataSource, EntitySchema, MoreThan } from 'typeorm';

const { DATABASE_URL, PARTNER_ID, PUBLIC_URL } = process.env;

const Brand = new EntitySchema({
  name: 'Brand',
  tableName: 'brands',
  columns: {
    partner_id: { type: 'text', primary: true },
    id: { type: 'text', primary: true },
    name: { type: 'text' },
    created_at: { type: 'timestamptz', precision: 3 },
    updated_at: { type: 'timestamptz', precision: 3 },
    reference_id: { type: 'text' },
    color: { type: 'text', nullable: true },
    profile_image_url: { type: 'text', nullable: true },
    metadata: { type: 'json', nullable: true },
  },
});

const source = new DataSource({ type: 'postgres', url: DATABASE_URL, poolSize: 10, entities: [Brand] });
await source.initialize();
const brands = source.getRepository(Brand);

/** Fields that are undefined are left out. */
function recordOf(brand) {
  return {
    id: brand.id,
    name: brand.name,
    created_at: brand.created_at,
    updated_at: brand.updated_at,
    reference_id: brand.reference_id,
    color: brand.color ?? undefined,
    profile_image_url: brand.profile_image_url ?? `${PUBLIC_URL}/assets/brand-placeholder.png`,
    metadata: brand.metadata ?? undefined,
  };
}

const app = express();

app.get('/network/v1/brands', async ({ query }, response) => {
  const { after } = query;
  const limit = Number(query.limit ?? 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100 || Array.isArray(after)) {
    response.status(400).end();
    return;
  }
  const found = await brands.find({
    where: { partner_id: PARTNER_ID, ...(after !== undefined && { id: MoreThan(after) }) },
    order: { id: 'ASC' },
    take: limit + 1,
  });
  const page = found.slice(0, limit);
  response.json({ brands: page.map(recordOf), cursor: found.length > limit ? page.at(-1).id : undefined });
});

const server = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
