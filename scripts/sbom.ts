import { print, runProgram, say } from '../checks/lib/program.ts';
import { productionSbom } from './packages/sbom.ts';

const about = `
Prints a CycloneDX document of all packages that run in production: those in package-lock.json, including
Node, and the library of the reference page.`;

await runProgram({
  usage: 'npm run --silent sbom --',
  about,
  options: {},
  run: async () => {
    try {
      print(JSON.stringify(productionSbom(), null, 2));
      return true;
    } catch (error) {
      say(`npm cannot list the packages: ${(error as Error).message}`);
      return false;
    }
  },
});
