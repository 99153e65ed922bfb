/** The site for partners: guides, operations, errors, changes, and the files that they name. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Environment, keyPrefixes } from '@partner-network/contract/environments';
import { errorCatalogue } from '@partner-network/contract/errors';
import type { Rates } from '@partner-network/contract/openapi/partners';
import {
  basePath,
  type ListingOperation,
  listings,
  openApiPath,
  sandboxOrigin,
} from '@partner-network/contract/operations';
import { bodyOf, bodyRoute, redirect } from '@partner-network/http/content';
import type { Route } from '@partner-network/http/handle';
import { isolation } from './assets.ts';
import { offeredFiles } from './clients.ts';
import { errorsPath, guidePages, root } from './guides.ts';
import type { Sample } from './operation.ts';
import { type Page, relative } from './page.ts';
import { createSite, kept, markdownHeaders } from './site.ts';
import { startPage } from './start.ts';

export interface Surroundings {
  readonly environment: Environment;
  readonly publicUrl: () => string;
  /** A public key of the demo data, offered to readers who have no key. */
  readonly demoKey?: string | undefined;
}

const json = ['Content-Type', 'application/json; charset=utf-8'];

const collectionFile = 'docs/reference/partners/partner-network.postman_collection.json';
const collectionPath = '/docs/partner-network.postman_collection.json';

/** The paths of the clients' packages. */
const clients = offeredFiles().map(({ name, about, content }) => {
  return { path: `/docs/clients/${name}`, name, about, body: bodyOf(content) };
});

const clientRoutes = clients.map(({ path, body }): [string, Route] => {
  const type = ['Content-Type', 'application/octet-stream'];
  return [path, bodyRoute(body, [...type, ...kept, ...isolation])];
});

const aboutClients = `The files that this service offers, to install from here. See [client for
JavaScript](/docs/guides/javascript#install), [client for Python](/docs/guides/python#install) and
[command line](/docs/guides/command-line#install).`;

const clientsPage: Page = {
  path: '/docs/clients',
  group: 'Clients',
  async markdown() {
    const files = clients.map(({ path, name, about }) => `## ${about}\n\n[${name}](${path})`);
    return ['# Install', aboutClients, ...files, '## SHA-256'].join('\n\n');
  },
  /** In the form that `sha256sum --check` reads. */
  async ending() {
    const lines = clients.map(async ({ name, body }) => {
      const digest = createHash('sha256').update(await body('identity'));
      return `${digest.digest('hex')}  ${name}\n`;
    });
    return `\n\n\`\`\`text\n${(await Promise.all(lines)).join('')}\`\`\``;
  },
};

/** The label of a tab of a sample, its language in Markdown, and what the name of its file ends with. */
const sampleKinds = [
  ['curl', 'sh', 'curl.sh'],
  ['JavaScript (client)', 'js', 'client.js'],
  ['JavaScript (fetch)', 'js', 'fetch.js'],
  ['Python (client)', 'python', 'client.py'],
  ['Python (standard library)', 'python', 'standard.py'],
  ['Java', 'java', 'java'],
  ['Go', 'go', 'go'],
] as const;

/** The samples of an operation: files that a test runs. */
function samplesFrom({ id }: ListingOperation): Promise<Sample[]> {
  const samples = sampleKinds.map(async ([label, language, ending]) => {
    const source = await readFile(new URL(`docs/samples/${id}.${ending}`, root), 'utf8');
    return { label, language, source };
  });
  return Promise.all(samples);
}

const variables = `With curl, JavaScript, Python, Java or Go (Golang). First set the variables
\`PARTNER_NETWORK_BASE_URL\` and \`PARTNER_NETWORK_API_KEY\`, as on the [start](/docs) page.`;

/** All paths of the site, and the page in place of an error. Everything is made on first use. */
export function createPartnersSite({ environment, publicUrl, demoKey }: Surroundings, rates: Rates) {
  // A demo key works only in a sandbox with the demo data.
  const offered = environment === 'sandbox' ? demoKey : undefined;
  const api = async () => {
    const { partnersApi } = await import('@partner-network/contract/openapi/partners');
    return partnersApi({ environment, publicUrl: publicUrl() }, rates);
  };
  const key = offered ?? `${keyPrefixes[environment]}…`;
  const guides = guidePages(publicUrl, key, offered !== undefined, { [collectionFile]: collectionPath });
  const operations = listings.map(
    (operation): Page => ({
      path: `/docs/operations/${operation.id}`,
      group: 'Operations',
      async markdown() {
        const { operationPage } = await import('./operation.ts');
        return operationPage(await api(), operation, await samplesFrom(operation), variables);
      },
      form: async () => (await import('./operation.ts')).tryForm(operation, offered),
    }),
  );
  const start: Page = {
    path: '/docs',
    group: 'Start',
    async markdown() {
      return startPage(await api(), leadOf(publicUrl() + basePath, key), openApiPath, collectionPath);
    },
  };
  const isFirst = ({ group }: Page) => group === 'Start';
  const others = guides.filter((page) => !isFirst(page));
  const pages = [start, ...guides.filter(isFirst), ...operations, clientsPage, ...others];
  const { routes, refusalPage } = createSite('Partner Network', environment, pages);
  const document = bodyOf(async () => {
    const { openApi } = await import('@partner-network/contract/openapi/document');
    return Buffer.from(JSON.stringify(openApi(await api())));
  });
  const collection = bodyOf(async () => {
    const text = await readFile(new URL(collectionFile, root), 'utf8');
    return Buffer.from(text.replaceAll(sandboxOrigin, publicUrl).replaceAll(/pn_test_demo\w+/g, () => key));
  });
  const all: [string, Route][] = [
    [openApiPath, bodyRoute(document, [...json, ...kept])],
    [collectionPath, bodyRoute(collection, [...json, ...kept, ...isolation])],
    ...routes,
    ...clientRoutes,
    ...codeRoutes(guides.find(({ path }) => path === errorsPath)!),
    leads('/docs/', '../docs'),
    leads('/docs/guides', '../docs'),
    leads('/docs/operations', '../docs#operations'),
    leads('/docs/guides/error-catalogue', '../errors'),
    ...(environment === 'sandbox' ? [leads('/', 'docs')] : []),
  ];
  return { routes: all, refusalPage };
}

/** The first steps. */
const leadOf = (address: string, key: string) => `\`\`\`sh
export PARTNER_NETWORK_BASE_URL=${address}
export PARTNER_NETWORK_API_KEY=${key}
curl -H "Authorization: Bearer $PARTNER_NETWORK_API_KEY" "$PARTNER_NETWORK_BASE_URL/brands?limit=2"
\`\`\`

- [Quick start](/docs/guides/quick-start): read all your brands with a program.
- [Try an operation](/docs/operations/listBrands#try-it) in the browser.
- [Errors](/docs/errors): what each code means, and what to do.
- [Rehearse failures](/docs/guides/rehearse-failures): test what your program does when a request fails.`;

/** Each code leads to its section in the catalogue. With `.md`, it is the section alone, for programs. */
function codeRoutes(catalogue: Page): [string, Route][] {
  return Object.keys(errorCatalogue).flatMap((code) => {
    const section = bodyOf(async () => {
      const parts = (await catalogue.markdown()).split(/^##(?=#? )/m);
      const own = parts.find((part) => part.startsWith(`# \`${code}\``))!;
      return Buffer.from(relative(own, `${errorsPath}/${code}`, '.md'));
    });
    return [code, code.toLowerCase()].flatMap((name) => [
      leads(`${errorsPath}/${name}`, `../errors#${code.toLowerCase()}`),
      [`${errorsPath}/${name}.md`, bodyRoute(section, [...markdownHeaders, ...kept])],
    ]);
  });
}

/** Relative, so that it works under the path prefix of a proxy. */
function leads(path: string, to: string): [string, Route] {
  return [path, { answer: async (exchange) => redirect(exchange, to) }];
}
