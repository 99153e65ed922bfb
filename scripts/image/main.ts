/** `npm run image`: writes the image of the service as an OCI layout, without a daemon. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { print, runProgram, say, wholeRun } from '../../checks/lib/program.ts';
import { required } from '../../packages/common/src/command-line/options.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { packServer, unpack } from '../../packages/testkit/package/installed.ts';
import { makeImage } from './build.ts';
import { writeLayout } from './layout.ts';

const about = `
Packs partner-network and writes an image of it to a new folder, as an OCI image layout: Node, the shared
libraries of this machine that Node needs, the dependencies in node_modules, and the package. It needs no
daemon. The same sources, packages and libraries give the same digest, which is printed. The image is for this
machine's processor. SOURCE_DATE_EPOCH sets its time; otherwise it has the time of the commit.

Copy it to a registry with, for example:
    skopeo copy oci:DIR:VERSION docker://registry.example/partner-network:VERSION`;

await runProgram({
  usage: 'npm run image --',
  about,
  options: { output: required('DIR', (text) => text, 'where to write the image; a new or empty folder') },
  run: async ({ output }) => {
    if (existsSync(output) && readdirSync(output).length > 0) {
      say(`${output} is not empty. Give a new or empty folder.`);
      return false;
    }
    try {
      const folder = temporaryFolder(wholeRun);
      print(await writeLayout(output, makeImage(unpack(packServer(folder), join(folder, 'package')))));
      return true;
    } catch (error) {
      say(`The image was not made. ${(error as Error).message}`);
      return false;
    }
  },
});
