/** Express 5 with Sequelize 6: a model, and its rows as instances of it. */
import express from 'express';
import { DataTypes, Op, Sequelize } from 'sequelize';
import { recordOf } from './brand-record.js';
import { pageParameters } from './page-parameters.js';

const { DATABASE_URL, PARTNER_ID } = process.env;

const sequelize = new Sequelize(DATABASE_URL, { logging: false, pool: { max: 10 } });

const Brand = sequelize.define(
  'Brand',
  {
    partner_id: { type: DataTypes.TEXT, primaryKey: true },
    id: { type: DataTypes.TEXT, primaryKey: true },
    name: { type: DataTypes.TEXT, allowNull: false },
    created_at: { type: DataTypes.DATE(3), allowNull: false },
    updated_at: { type: DataTypes.DATE(3), allowNull: false },
    reference_id: { type: DataTypes.TEXT, allowNull: false },
    color: DataTypes.TEXT,
    profile_image_url: DataTypes.TEXT,
    metadata: DataTypes.JSON,
  },
  { tableName: 'brands', createdAt: 'created_at', updatedAt: 'updated_at' },
);

const app = express();

app.get('/network/v1/brands', async (request, response) => {
  const { after, limit } = pageParameters(request.query);
  const found = await Brand.findAll({
    where: { partner_id: PARTNER_ID, ...(after !== undefined && { id: { [Op.gt]: after } }) },
    order: [['id', 'ASC']],
    limit: limit + 1,
  });
  const page = found.slice(0, limit);
  response.json({ brands: page.map(recordOf), cursor: found.length > limit ? page.at(-1).id : undefined });
});

const server = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
