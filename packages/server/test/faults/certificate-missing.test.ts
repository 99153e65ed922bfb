import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { startPostgres, withoutOwnServers } from '../../../testkit/servers/postgres.ts';
import { amongAllOnly } from './scene/all-faults.ts';
import { hangUpOnService } from './scene/pair.ts';
import { fill, serveOn, startLoad } from './scene/under-load.ts';

const skip = withoutOwnServers();
const timeout = 60_000;

test('a certificate that cannot be read when connections are made is a 503 until it can', {
  skip: skip || amongAllOnly,
  timeout,
}, async (t) => {
  const server = await startPostgres(t);
  await fill(server.url());
  const certificate = join(temporaryFolder(t), 'authority.pem');
  writeFileSync(certificate, '');
  const load = await startLoad(
    t,
    await serveOn(t, `${server.url()}?sslmode=disable&sslrootcert=${certificate}`),
  );
  renameSync(certificate, `${certificate}.away`);
  await hangUpOnService(t, server);
  await load.next(({ isRight }) => !isRight);
  renameSync(`${certificate}.away`, certificate);
  await load.resumes(performance.now());
  await load.stop();
});
