import { readdir, readFile } from 'node:fs/promises';
import { sandboxOrigin } from '@partner-network/contract/operations';

/** A page of docs/partners, as a part of the reference. */
export interface Guide {
  /** Its file's name. The part of the operations that it is about, if there is one, has the same. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

const folder = new URL('../../../../docs/partners/', import.meta.url);

/** The first things first. What is not named here comes after them, or with the operation it is about. */
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

/** What the guides have a reader set. Other keys of the demo data are what a text is about, and stay. */
const exampleKey = /(?<=PARTNER_NETWORK_API_KEY=)pn_test_demo\w+/g;

/** Whose page the guides are on. */
interface Surroundings {
  readonly publicUrl: string;
  /** The key to set: one that works here, or how one begins. */
  readonly key: string;
  /** Whether this is a sandbox with the demo data, such as the guides are written for. */
  readonly isOwnSandbox: boolean;
}

/** The guides for partners, from the same files that the repository shows, as they read at this place. */
export async function readGuides(here: Surroundings): Promise<Guide[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.md'));
  const names = files.map((file) => file.slice(0, -'.md'.length));
  const guides = await Promise.all(
    names.map(async (name) => guideOf(name, await readFile(new URL(`${name}.md`, folder), 'utf8'))),
  );
  const place = ({ name }: Guide) => (order.includes(name) ? order.indexOf(name) : order.length);
  return guides
    .toSorted((left, right) => place(left) - place(right) || (left.name < right.name ? -1 : 1))
    .map((guide) => ({ ...guide, text: withAnchors(guide, names) }))
    .map((guide) => localGuide(guide, here));
}

function guideOf(name: string, markdown: string): Guide {
  const [, title = name, text = ''] = /^# ([^\n]+)\n(.*)$/s.exec(markdown) ?? [];
  return { name, title, text: text.trim() };
}

/** Elsewhere the guide to the sandbox is about the reader's own. All else is about this service. */
function localGuide({ text, ...guide }: Guide, { publicUrl, key, isOwnSandbox }: Surroundings): Guide {
  if (guide.name === 'sandbox' && !isOwnSandbox) return { ...guide, text };
  const addressed = text.replaceAll(sandboxOrigin, () => publicUrl);
  return { ...guide, text: addressed.replaceAll(exampleKey, () => key) };
}

/** Links between the files lead to places on the page. What a link leads to elsewhere is not on it. */
function withAnchors({ name, text }: Guide, names: readonly string[]): string {
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

/** What a heading is called in links, as GitHub has it. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}
