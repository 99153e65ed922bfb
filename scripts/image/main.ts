/** `npm run image`: writes the image of the service as an OCI layout, without a daemon. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { print, runProgram, say, withDefault } from '../../bench/lib/program.ts';
import { optional, required, wholeNumber } from '../../packages/server/src/command-line/options.ts';
import { makeImage, packageIn } from './build.ts';
import { writeLayout } from './layout.ts';

const about = `
Packs partner-network and writes an image of it to a new folder, as an OCI image layout: Node, the shared
libraries of this machine that Node needs, the dependencies in node_modules, and the package. It needs no
daemon. The same sources, packages and libraries give the same digest, which is printed. The image is for this
machine's processor. SOURCE_DATE_EPOCH sets its time; otherwise it has the time of the commit.

Copy it to a registry with, for example:
    skopeo copy oci:DIR:VERSION docker://registry.example/partner-network:VERSION`;

const anyText = (text: string) => text;

const options = {
  output: required('DIR', anyText, 'where to write the image; a new or empty folder'),
  package: optional('FILE', anyText, 'a packed package, instead of packing it now'),
  level: withDefault('N', wholeNumber(0, 9), 6, 'how much gzip compresses, from 0 to 9'),
};

await runProgram({
  usage: 'npm run image --',
  about,
  options,
  run: async ({ output, package: archive, level }) => {
    if (existsSync(output) && readdirSync(output).length > 0) {
      say(`${output} is not empty. Give a new or empty folder.`);
      return false;
    }
    try {
      print(
        await writeLayout(
          output,
          makeImage(packageIn(archive === undefined ? undefined : readFileSync(archive))),
          level,
        ),
      );
      return true;
    } catch (error) {
      say(`The image was not made. ${(error as Error).message}`);
      return false;
    }
  },
});
