import pg from 'pg';

const { builtins } = pg.types;
const readTime = pg.types.getTypeParser(builtins.TIMESTAMPTZ) as (text: string) => Date;

/** Times as the wire writes them; all else as the driver reads it. */
export const driverTypes = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === builtins.TIMESTAMPTZ
      ? (text: string) => readTime(text).toISOString()
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};
