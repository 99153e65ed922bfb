import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';

export async function lintPackage(tarball) {
  return (await publint({ pack: { tarball: tarball.buffer }, strict: true })).messages;
}

export async function checkTypes(tarball) {
  const { types, problems, entrypoints } = await checkPackage(createPackageFromTarballData(tarball));
  // A program has no types, because nothing can be imported from it.
  const main = entrypoints['.'];
  if (!types || !main) return { problems: [], files: {} };
  const found = Object.entries(main.resolutions);
  return {
    problems,
    files: Object.fromEntries(found.map(([kind, { resolution }]) => [kind, resolution?.fileName])),
  };
}
