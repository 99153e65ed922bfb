/** Files generated from the sources. `npm run docs` writes them; a test fails if one is out of date. */
import { writeFileSync } from 'node:fs';
import { adminOpenApiText, openApiText } from './openapi.ts';
import { clientTypes } from './pages/client-types.ts';
import { commandsPage } from './pages/commands.ts';
import { errorsPage } from './pages/errors.ts';
import { highlightedCode } from './pages/highlighted.ts';
import { importCodesPage } from './pages/import-codes.ts';
import { metricsPage } from './pages/metrics.ts';
import { postmanCollection } from './pages/postman.ts';
import { pythonMetadata } from './pages/python-metadata.ts';
import { settingsPage } from './pages/settings.ts';
import { terminalPicture } from './pages/terminal.ts';
import { writeSchemas } from './schema-dump.ts';

const docs = new URL('../docs/', import.meta.url);

/** The path of each file from docs/, and its current text. */
const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  'openapi.json': openApiText,
  'admin-openapi.json': adminOpenApiText,
  'reference/partners/error-catalogue.md': errorsPage,
  'reference/partners/partner-network.postman_collection.json': postmanCollection,
  '../packages/service/assets/site/highlighted.json': highlightedCode,
  'reference/operators/settings.md': settingsPage,
  'reference/operators/commands.md': commandsPage,
  'reference/operators/import-codes.md': importCodesPage,
  'reference/operators/metrics.md': metricsPage,
  'pictures/terminal.svg': terminalPicture,
  '../packages/client/types/index.d.ts': clientTypes,
  '../clients/python/dist-info/METADATA': pythonMetadata,
};

export const generatedPages = Object.entries(pages).map(([path, text]) => ({
  path: new URL(path, docs),
  text,
}));

if (import.meta.main) {
  for (const { path, text } of generatedPages) writeFileSync(path, await text());
  await writeSchemas();
}
