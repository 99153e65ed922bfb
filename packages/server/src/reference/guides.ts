import { readdir, readFile } from 'node:fs/promises';
import { basePath } from '@partner-network/contract/operations';

/** A page of docs/partners, as a part of the reference. */
export interface Guide {
  /** Its file's name. The part of the operations that it is about, if there is one, has the same. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

const folder = new URL('../../../../docs/partners/', import.meta.url);

/** The first things first. What is not named here comes after them, and about the service itself last. */
const order = ['quick-start', 'pagination', 'errors', 'error-catalogue', 'rate-limits', 'keys', 'sandbox'];

/** What the guides name as an example, and the page as it is. */
const exampleAddress = `http://127.0.0.1:8080${basePath}`;
const exampleKey = /pn_test_demo\w+/g;

/** The guides for partners, from the same files that the repository shows, with this address and this key. */
export async function readGuides(publicUrl: string, key: string): Promise<Guide[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.md') && file !== 'README.md');
  const names = files.map((file) => file.slice(0, -'.md'.length));
  const guides = await Promise.all(
    names.map(async (name) => guideOf(name, await readFile(new URL(`${name}.md`, folder), 'utf8'))),
  );
  const place = ({ name }: Guide) => (order.includes(name) ? order.indexOf(name) : order.length);
  return guides
    .toSorted((left, right) => place(left) - place(right) || (left.name < right.name ? -1 : 1))
    .map((guide) => ({ ...guide, text: withAnchors(guide, names) }))
    .map((guide) => localGuide(guide, publicUrl, key));
}

function guideOf(name: string, markdown: string): Guide {
  const [, title = name, text = ''] = /^# ([^\n]+)\n(.*)$/s.exec(markdown) ?? [];
  return { name, title, text: text.trim() };
}

/** The sandbox that one runs oneself is always at the same address. All else is about this service. */
function localGuide({ text, ...guide }: Guide, publicUrl: string, key: string): Guide {
  if (guide.name === 'sandbox') return { ...guide, text };
  const addressed = text.replaceAll(exampleAddress, () => publicUrl + basePath);
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
function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replace(/\s/g, '-');
}
