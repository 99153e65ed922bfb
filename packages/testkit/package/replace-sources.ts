/**
 * Import it first into a process of tests. A module of a src folder is then replaced by the same module of
 * the installed package, so that every test of the sources tests the package.
 */
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { installedPackage } from './installed.ts';

const root = new URL('../../../', import.meta.url).href;
const built = `${pathToFileURL(`${installedPackage()}/dist`).href}/`;

registerHooks({
  resolve: (name, context, search) => {
    const found = search(name, context);
    const [source, path] = /^(packages\/\w+\/src\/.*)\.ts$/.exec(found.url.replace(root, '')) ?? [];
    return source === undefined ? found : { url: `${built}${path}.js`, format: 'module', shortCircuit: true };
  },
});
