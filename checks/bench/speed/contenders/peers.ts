/** The peers as contenders, after a check that they answer the same pages. */
import { join } from 'node:path';
import { temporaryFolder } from '../../../../packages/testkit/fixtures/folder.ts';
import { wholeRun } from '../../../lib/program.ts';
import { type Contender, type Stage, underLoad } from './contenders.ts';
import { peers, startPeer } from './peer-processes.ts';
import { differenceOfPeer, readOurPages, writeBrandsFile } from './same-pages.ts';

export async function peersUnderLoad({ services, generator }: Stage): Promise<Contender[]> {
  const { url: databaseUrl, pid } = await services.database('postgres', 'small');
  const { port } = await services.service('postgres', 'small');
  const { id: partnerId, key } = services.partners[0]!;
  const publicUrl = `http://127.0.0.1:${port}`;
  const brandsFile = join(temporaryFolder(wholeRun), 'brands.json');
  const pages = await readOurPages(port, key);
  await writeBrandsFile(brandsFile, pages);
  const contenders: Contender[] = [];
  for (const peer of peers) {
    const listener = await startPeer(peer, { databaseUrl, partnerId, brandsFile, publicUrl });
    const difference = await differenceOfPeer(peer, listener.port, pages);
    if (difference !== undefined) throw new Error(difference);
    contenders.push(
      underLoad(generator, {
        id: `peer.${peer.name}`,
        name: `peer: ${peer.name}`,
        floor: 'floor.brands',
        listener,
        requests: [{ path: peer.firstPage }],
        databasePid: peer.takes === 'postgres' ? pid : undefined,
      }),
    );
  }
  return contenders;
}
