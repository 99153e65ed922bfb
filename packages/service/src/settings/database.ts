/** The settings of the database, which most commands of operators share. */
import { postgresBounds } from '@partner-network/common/bounds/store';
import {
  oneOf,
  orInFile,
  Problem,
  repeatedSetting,
  setting,
  type Values,
  wholeNumber,
} from '@partner-network/common/command-line/options';
import { environments } from '@partner-network/contract/environments';
import { type DatabaseAddress, parseDatabaseUrl, postgresUrls } from '@partner-network/store/address';

const postgresForm =
  'postgres://USER:PASSWORD@HOST:PORT/NAME. In a password, write %40 for @ and %2F for /. ' +
  'After a ?, only sslmode, sslrootcert, sslcert and sslkey are allowed';

function databaseUrl(text: string): DatabaseAddress | Problem {
  return parseDatabaseUrl(text) ?? new Problem(`must be sqlite:PATH or ${postgresForm}.`);
}

function replicaUrl(text: string): string | Problem {
  return postgresUrls(text)?.[0] ?? new Problem(`must be ${postgresForm}.`);
}

/** The flags of every command that opens a database. */
export const databaseSettings = {
  environment: setting(
    'production|sandbox',
    'ENVIRONMENT',
    oneOf(environments),
    'production',
    'environment that the database belongs to',
  ),
  database: {
    ...orInFile(
      setting(
        'URL',
        'DATABASE_URL',
        databaseUrl,
        undefined,
        'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME',
      ),
    ),
    default: 'sqlite:data/<environment>.db',
  },
};

/** The flags for a Postgres database. */
export const postgresSettings = {
  replica: orInFile(
    repeatedSetting(
      'URL',
      'DATABASE_REPLICA_URLS',
      replicaUrl,
      postgresBounds.mostReplicas,
      `Postgres standby to read brands from, at most ${postgresBounds.mostReplicas}; ` +
        'the variable takes several, separated by commas',
    ),
  ),
  connections: setting(
    'N',
    'DATABASE_CONNECTIONS',
    wholeNumber(1, postgresBounds.mostConnections),
    postgresBounds.connections,
    `connections of each process to each Postgres server, 1 to ${postgresBounds.mostConnections}`,
  ),
  'prepared-statements': setting(
    'on|off',
    'PREPARED_STATEMENTS',
    oneOf(['on', 'off']),
    'on',
    'set it to off for a connection pooler in transaction mode',
  ),
};

export function databaseConfig({ environment, database }: Values<typeof databaseSettings>) {
  const fallback: DatabaseAddress = { engine: 'sqlite', path: `data/${environment}.db` };
  return { environment, database: database ?? fallback };
}

export function needsPostgres(flag: string): string {
  return `${flag} needs a Postgres database. Set --database to its URL.`;
}
