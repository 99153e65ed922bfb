/** Express 5 with TypeORM: an entity, a repository, and its rows as entities. */
import express from 'express';
import { DataSource, EntitySchema, MoreThan } from 'typeorm';
import { recordOf } from './brand-record.js';
import { pageParameters } from './page-parameters.js';

const { DATABASE_URL, PARTNER_ID } = process.env;

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

const app = express();

app.get('/network/v1/brands', async (request, response) => {
  const { after, limit } = pageParameters(request.query);
  const found = await brands.find({
    where: { partner_id: PARTNER_ID, ...(after !== undefined && { id: MoreThan(after) }) },
    order: { id: 'ASC' },
    take: limit + 1,
  });
  const page = found.slice(0, limit);
  response.json({ brands: page.map(recordOf), cursor: found.length > limit ? page.at(-1).id : undefined });
});

const server = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
