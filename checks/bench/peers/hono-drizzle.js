/** Hono 4 with Drizzle on pg, with prepared statements as its documentation advises. */
import { serve } from '@hono/node-server';
import { and, asc, eq, gt, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { json, pgTable, text, timestamp } from 'drizzle-orm/pg-core';
import { Hono } from 'hono';
import pg from 'pg';
import { recordOf } from './brand-record.js';
import { pageParameters } from './page-parameters.js';

const { DATABASE_URL, PARTNER_ID } = process.env;

const time = { withTimezone: true, precision: 3 };

const brands = pgTable('brands', {
  partner_id: text().notNull(),
  id: text().notNull(),
  name: text().notNull(),
  created_at: timestamp(time).notNull(),
  updated_at: timestamp(time).notNull(),
  reference_id: text().notNull(),
  color: text(),
  profile_image_url: text(),
  metadata: json(),
});

const db = drizzle(new pg.Pool({ connectionString: DATABASE_URL, max: 10 }));

const pageWhere = (...conditions) =>
  db
    .select()
    .from(brands)
    .where(and(eq(brands.partner_id, PARTNER_ID), ...conditions))
    .orderBy(asc(brands.id))
    .limit(sql.placeholder('limit'));
const firstPage = pageWhere().prepare('first_page');
const laterPage = pageWhere(gt(brands.id, sql.placeholder('after'))).prepare('later_page');

const app = new Hono();

app.onError((error, context) => context.text(error.message, error.status ?? 500));

app.get('/network/v1/brands', async (context) => {
  const { after, limit } = pageParameters(context.req.query());
  const prepared = after === undefined ? firstPage : laterPage;
  const found = await prepared.execute({ after, limit: limit + 1 });
  const page = found.slice(0, limit);
  return context.json({
    brands: page.map(recordOf),
    cursor: found.length > limit ? page.at(-1).id : undefined,
  });
});

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}`),
);
