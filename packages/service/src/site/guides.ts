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

/** All guides, in the order in which they are shown. */
export const guideList: readonly Listed[] = [
  listed('Start', 'docs/tutorials/partners', 'quick-start', 'rehearse-failures'),
  readme('packages/client', 'javascript', 'Client for JavaScript'),
  readme('clients/python', 'python', 'Client for Python'),
  listed('Clients', 'docs/how-to/partners', 'command-line', 'use-your-own-tools'),
  listed('How-to guides', 'docs/how-to/partners', 'pagination', 'errors', 'rate-limits', 'keys'),
  { path: '/docs/errors', group: 'Reference', file: 'docs/reference/partners/error-catalogue.md' },
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

interface Surroundings {
  readonly publicUrl: () => string;
  /** A key that works here, or the beginning of one. */
  readonly key: string;
  /** Whether this service is a sandbox with the demo data, which the guides are written for. */
  readonly isOwnSandbox: boolean;
  /** Other files of the repository that this service has, and their paths. */
  readonly files: Readonly<Record<string, string>>;
}

export function guidePages({ publicUrl, key, isOwnSandbox, files }: Surroundings): Page[] {
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
  const parts = changelog.split(/^(?=#)/m).flatMap((part) => {
    const items = part.split(/^(?=- )|\n\n/m).filter((item) => /^- \*\*Partners\b/.test(item));
    const own = items
      .map((item) => item.trim().replace(/^- \*\*Partners[^:]*:\*\* (\[?.)/, capital))
      .join('\n');
    const heading = part.slice(0, part.indexOf('\n')).replaceAll(/[[\]]/g, '');
    if (heading.startsWith('## ')) return heading;
    return own === '' ? [] : `**${heading.replace(/^#+ /, '')}**\n\n${own}`;
  });
  // A version without such entries is left out.
  const versions = parts.filter((part, index) => isKind(part) || isKind(parts[index + 1]));
  const about = 'New features and fixes of the API, the clients and this site.';
  return `${['# Changelog', about, ...versions].join('\n\n')}\n`;
}

const isKind = (part = '') => part.startsWith('**');
const capital = (_: string, first: string) => `- ${first.toUpperCase()}`;
