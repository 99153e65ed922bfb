/**
 * Import it first into a process of tests. A module of a src folder is then replaced by the same module of
 * the installed package, so that every test of the sources tests the package.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { testedPackage } from './tested.ts';

const root = new URL('../../../', import.meta.url).href;
const installed = testedPackage()!;
const built = `${pathToFileURL(`${installed}/dist`).href}/`;
const { dependencies } = JSON.parse(readFileSync(`${installed}/package.json`, 'utf8'));

registerHooks({
  resolve: (name, context, search) => {
    // A test that imports a library gets the copy of the package: the package compares its classes.
    const found = search(name, name in dependencies ? { ...context, parentURL: built } : context);
    const [source, path] = /^(packages\/[\w-]+\/src\/.*)\.ts$/.exec(found.url.replace(root, '')) ?? [];
    return source === undefined ? found : { url: `${built}${path}.js`, format: 'module', shortCircuit: true };
  },
});
