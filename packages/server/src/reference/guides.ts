import { readdir, readFile } from 'node:fs/promises';
import { sandboxOrigin } from '@partner-network/contract/operations';

/** A page of docs/partners, shown in the reference. */
export interface Guide {
  /** The name of its file. A guide about a listing has the name of the listing's tag. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

const folder = new URL('../../../../docs/partners/', import.meta.url);

/** Guides that come first. The others follow in alphabetical order. */
const order = [
  'quick-start',
  'command-line',
  'pagination',
  'errors',
  'error-catalogue',
  'rate-limits',
  'keys',
  'sandbox',
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
  const files = (await readdir(folder)).filter((file) => file.endsWith('.md'));
  const names = files.map((file) => file.slice(0, -'.md'.length));
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  const sorted = names.toSorted((left, right) => rank(left) - rank(right) || (left < right ? -1 : 1));
  return Promise.all(
    sorted.map(async (name) => {
      const markdown = await readFile(new URL(`${name}.md`, folder), 'utf8');
      const [, title = name, body = ''] = /^# ([^\n]+)\n(.*)$/s.exec(markdown) ?? [];
      const text = withAnchors(name, body.trim(), names);
      // Elsewhere, this guide is about a sandbox on the reader's machine: its address and key stay.
      if (name === 'sandbox' && !isOwnSandbox) return { name, title, text };
      const addressed = text.replaceAll(sandboxOrigin, () => publicUrl);
      return { name, title, text: addressed.replaceAll(exampleKey, () => key) };
    }),
  );
}

/** Makes links between the files lead to places on the page. A link to any other file becomes plain text. */
function withAnchors(name: string, text: string, names: readonly string[]): string {
  return text
    .replace(
      /^(#{2,6}) (.+)$/gm,
      (_, level, title) => `${level} <a id="${name}-${slugOf(title)}"></a>${title}`,
    )
    .replace(/\[([^\]]+)\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g, (_, label, file, heading) => {
      const target = file === '' ? name : file.replace(/\.md$/, '');
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
