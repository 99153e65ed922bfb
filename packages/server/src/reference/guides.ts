import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { sandboxOrigin } from '@partner-network/contract/operations';

/** A page for partners, shown in the reference. */
export interface Guide {
  /** The name of its file. A guide about a listing has the name of the listing's tag. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

/** The folders of docs/ that hold pages for partners. */
const guideFolders = ['tutorials', 'how-to', 'reference', 'explanation'].map(
  (kind) => new URL(`../../../../docs/${kind}/partners/`, import.meta.url),
);

/** Guides that come first. The others follow by kind and name. */
const order = [
  'quick-start',
  'command-line',
  'use-your-own-tools',
  'pagination',
  'errors',
  'error-catalogue',
  'rate-limits',
  'keys',
  'environments-and-scopes',
  'sandbox',
  'versions-and-beta',
];

/** The key that the guides tell the reader to set. Other demo keys are the subject of a text and stay. */
const exampleKey = /(?<=PARTNER_NETWORK_API_KEY=)pn_test_demo\w+/g;

interface Surroundings {
  readonly publicUrl: string;
  /** A key that works here, or the beginning of one. */
  readonly key: string;
  /** Whether this service is a sandbox with the demo data, which the guides are written for. */
  readonly isOwnSandbox: boolean;
}

/** Reads the guides from the files that the repository shows, adapted to the service that serves them. */
export async function readGuides({ publicUrl, key, isOwnSandbox }: Surroundings): Promise<Guide[]> {
  const files = await guideFiles();
  const names = files.map(nameOf);
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  const sorted = files.toSorted((left, right) => rank(nameOf(left)) - rank(nameOf(right)));
  return Promise.all(
    sorted.map(async (file) => {
      const name = nameOf(file);
      const markdown = await readFile(file, 'utf8');
      const [, title = name, body = ''] = /^# ([^\n]+)\n(.*)$/s.exec(markdown) ?? [];
      const text = withAnchors(name, body.trim(), names);
      // Elsewhere, this guide is about a sandbox on the reader's machine: its address and key stay.
      if (name === 'sandbox' && !isOwnSandbox) return { name, title, text };
      const addressed = text.replaceAll(sandboxOrigin, () => publicUrl);
      return { name, title, text: addressed.replaceAll(exampleKey, () => key) };
    }),
  );
}

/** The files of all guides, by kind. */
export async function guideFiles(): Promise<URL[]> {
  const folders = guideFolders.map(async (folder) => {
    const names = await readdir(folder).catch(() => []);
    const pages = names.filter((name) => name.endsWith('.md'));
    return pages.sort().map((name) => new URL(name, folder));
  });
  return (await Promise.all(folders)).flat();
}

function nameOf(file: URL): string {
  return basename(file.pathname, '.md');
}

/** Makes links between the files lead to places on the page. A link to any other file becomes plain text. */
function withAnchors(name: string, text: string, names: readonly string[]): string {
  return text
    .replace(
      /^(#{2,6}) (.+)$/gm,
      (_, level, title) => `${level} <a id="${name}-${slugOf(title)}"></a>${title}`,
    )
    .replace(/\[([^\]]+)\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g, (_, label, file, heading) => {
      const target = file === '' ? name : basename(file, '.md');
      if (!names.includes(target)) return label;
      return `[${label}](#${heading === undefined ? `tag/${target}` : `${target}-${heading}`})`;
    });
}

/** The name of a heading in links, as GitHub makes it. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}
