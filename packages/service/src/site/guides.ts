/** The guides for partners and the list of changes: files of the repository, adapted to this service. */
import { readFile } from 'node:fs/promises';
import { sandboxOrigin } from '@partner-network/contract/operations';
import { inProse } from './markdown.ts';
import type { Page } from './page.ts';

export interface Listed {
  readonly path: string;
  /** The heading of its group in the sidebar. */
  readonly group: string;
  readonly file: string;
  /** If it is not the first heading of the file: a README has the name of its package. */
  readonly title?: string;
}

export const errorsPath = '/docs/errors';

/** All guides, in the order in which they are shown. */
export const guideList: readonly Listed[] = [
  listed('Start', 'docs/tutorials/partners', 'quick-start', 'rehearse-failures'),
  readme('packages/client', 'javascript', 'Client for JavaScript'),
  readme('clients/python', 'python', 'Client for Python'),
  listed('Clients', 'docs/how-to/partners', 'command-line', 'use-your-own-tools'),
  listed('How-to guides', 'docs/how-to/partners', 'pagination', 'errors', 'rate-limits', 'keys'),
  { path: errorsPath, group: 'Reference', file: 'docs/reference/partners/error-catalogue.md' },
  listed('Reference', 'docs/reference/partners', 'brands', 'balances', 'environments-and-scopes', 'sandbox'),
  { path: '/docs/changes', group: 'Reference', file: 'CHANGELOG.md', title: 'What changed for partners' },
].flat();

function listed(group: string, folder: string, ...names: string[]): Listed[] {
  return names.map((name) => ({ path: `/docs/guides/${name}`, group, file: `${folder}/${name}.md` }));
}

function readme(folder: string, name: string, title: string): Listed {
  return { path: `/docs/guides/${name}`, group: 'Clients', file: `${folder}/README.md`, title };
}

export const root = new URL('../../../../', import.meta.url);

/** The key that the guides tell the reader to set. Other demo keys are the subject of a text and stay. */
const exampleKey = /(?<=PARTNER_NETWORK_API_KEY=)pn_test_demo\w+/g;

/**
 * The guides are written for a sandbox with the demo data. `key` is a key that works here, or only the prefix
 * of its environment. `files` are the paths of other files of the repository that this service has.
 */
export function guidePages(
  publicUrl: () => string,
  key: string,
  isOwnSandbox: boolean,
  files: Readonly<Record<string, string>>,
): Page[] {
  const paths = { ...Object.fromEntries(guideList.map(({ file, path }) => [file, path])), ...files };
  return guideList.map(({ path, group, file, title }) => ({
    path,
    group,
    async markdown() {
      const written = await readFile(new URL(file, root), 'utf8');
      const whole = file === 'CHANGELOG.md' ? forPartners(written) : written;
      const text = linked(title === undefined ? whole : whole.replace(/^# .*/, `# ${title}`), file, paths);
      // Elsewhere, this guide is about a sandbox on the reader's machine: its address and key stay.
      if (path.endsWith('/sandbox') && !isOwnSandbox) return text;
      return text
        .replaceAll(sandboxOrigin, publicUrl)
        .replaceAll(exampleKey, () => key)
        .replaceAll(new URL(sandboxOrigin).host, () => new URL(publicUrl()).host);
    },
  }));
}

/** Makes links lead to the paths of files here. A link to any other file becomes plain text. */
function linked(text: string, file: string, paths: Readonly<Record<string, string>>): string {
  return inProse(text, (prose) =>
    prose.replace(/\[([^\]]+)\]\((?!https?:|#)([^)]+)\)/g, (_, label: string, target: string) => {
      const { pathname, hash } = new URL(target, new URL(file, root));
      const path = paths[pathname.slice(root.pathname.length)];
      return path === undefined ? label : `[${label}](${path}${hash})`;
    }),
  );
}

/** The entries of the changelog that are marked as those of partners, below their versions and kinds. */
export function forPartners(changelog: string): string {
  const about = 'New features and fixes of the API, the clients and this site.';
  const versions = changelog.split(/^## /m).slice(1);
  const parts = versions.flatMap((version) => {
    const [heading = '', ...kinds] = version.split(/^### /m);
    const own = kinds.flatMap((kind) => {
      const items = [...kind.matchAll(/^- \*\*Partners\b[^:]*:\*\* (\[?.)(.*(?:\n {2}.*)*)/gm)];
      const texts = items.map(([, first = '', rest]) => `- ${first.toUpperCase()}${rest}`);
      return texts.length === 0 ? [] : [`**${kind.split('\n', 1)}**`, texts.join('\n')];
    });
    // A version without such entries is left out.
    return own.length === 0 ? [] : [`## ${heading.split('\n', 1)[0]!.replaceAll(/[[\]]/g, '')}`, ...own];
  });
  return `${['# Changelog', about, ...parts].join('\n\n')}\n`;
}
