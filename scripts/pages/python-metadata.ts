/** What the package of the client for Python says about itself. Made from pyproject.toml. */
import { readFileSync } from 'node:fs';

const python = new URL('../../clients/python/', import.meta.url);

export function pythonMetadata(): string {
  const project = readFileSync(new URL('pyproject.toml', python), 'utf8');
  const init = readFileSync(new URL('src/partner_network/__init__.py', python), 'utf8');
  const valuesOf = (name: string) => {
    const [line = ''] = new RegExp(`^${name} = .*$`, 'm').exec(project) ?? [];
    return Array.from(line.matchAll(/"(.*?)"/g), ([, value]) => value!);
  };
  const lines = [
    'Metadata-Version: 2.1',
    `Name: ${valuesOf('name')}`,
    `Version: ${/^__version__ = "(.*)"$/m.exec(init)?.[1]}`,
    `Summary: ${valuesOf('description')}`,
    `License: ${valuesOf('license')}`,
    `Keywords: ${valuesOf('keywords')}`,
    ...valuesOf('classifiers').map((classifier) => `Classifier: ${classifier}`),
    `Requires-Python: ${valuesOf('requires-python')}`,
  ];
  return `${lines.join('\n')}\n`;
}
