import { readFile } from 'node:fs/promises';
import { sandboxOrigin } from '@partner-network/contract/operations';
import { guideList, type Listed } from './guide-list.ts';

/** A page for partners, which the service shows at /docs/guides/NAME. */
export interface Guide extends Listed {
  readonly title: string;
  /** Relative to the page that shows it. */
  readonly address: string;
  /** Its first paragraph, and links to its sections. */
  readonly summary: string;
  readonly text: string;
}

const root = new URL('../../../../', import.meta.url);

/** The key that the guides tell the reader to set. Other demo keys are the subject of a text and stay. */
const exampleKey = /(?<=PARTNER_NETWORK_API_KEY=)pn_test_demo\w+/g;

interface Surroundings {
  readonly publicUrl: string;
  /** A key that works here, or the beginning of one. */
  readonly key: string;
  /** Whether this service is a sandbox with the demo data, which the guides are written for. */
  readonly isOwnSandbox: boolean;
  /** Other files of the repository that this service has, and their paths. */
  readonly files: Readonly<Record<string, string>>;
  /** The address of /docs/guides, relative to the page that shows the texts. */
  readonly guidesAt: string;
}

/** Reads the guides from the files that the repository shows, adapted to the service that serves them. */
export function readGuides(surroundings: Surroundings): Promise<Guide[]> {
  const { publicUrl, key, isOwnSandbox, files, guidesAt } = surroundings;
  const addressOf = ({ pathname, hash }: URL) => {
    const path = pathname.slice(root.pathname.length);
    const name = guideList.find(({ file }) => file === path)?.name;
    if (name !== undefined) return `${guidesAt}${name}${hash && `#${name}-${hash.slice(1)}`}`;
    return files[path] && publicUrl + files[path];
  };
  return Promise.all(
    guideList.map(async (guide): Promise<Guide> => {
      const { name, file } = guide;
      const markdown = await readFile(new URL(file, root), 'utf8');
      const [, title = name, body = ''] = /^# ([^\n]+)\n(.*)$/s.exec(markdown) ?? [];
      let text = adapted(guide, body.trim(), addressOf);
      // Elsewhere, this guide is about a sandbox on the reader's machine: its address and key stay.
      if (name !== 'sandbox' || isOwnSandbox) {
        text = text.replaceAll(sandboxOrigin, () => publicUrl).replaceAll(exampleKey, () => key);
        text = text.replaceAll(new URL(sandboxOrigin).host, () => new URL(publicUrl).host);
      }
      const address = `${guidesAt}${name}`;
      return { title, ...guide, address, text, summary: summaryOf(text, address) };
    }),
  );
}

function summaryOf(text: string, address: string): string {
  const headings = text.matchAll(/^## <a id="([^"]+)"><\/a>(.+)$/gm);
  const sections = Array.from(headings, ([, id, title]) => `[${title}](${address}#${id})`);
  return `${text.split('\n\n', 1)[0]}\n\n[Read this guide](${address}): ${sections.join(' · ')}`;
}

/**
 * Gives each heading an id that begins with the name of its guide, and makes links lead to where the service
 * has their target. A link to any other file becomes plain text.
 */
function adapted(
  { name, file }: Listed,
  text: string,
  addressOf: (target: URL) => string | undefined,
): string {
  const linked = (_: string, label: string, target: string) => {
    const address = addressOf(new URL(target, new URL(file, root)));
    return address === undefined ? label : `[${label}](${address})`;
  };
  const headed = (_: string, level: string, title: string) =>
    `${level} <a id="${name}-${slugOf(title)}"></a>${title}`;
  // Every second part is a code block, which stays unchanged.
  const parts = text.split(/(^```.*?^```$)/gms).map((part, index) => {
    if (index % 2 === 1) return part;
    const anchored = part.replace(/^(#{2,6}) (.+)$/gm, headed);
    return anchored.replace(/\[([^\]]+)\]\((?!https?:)([^)]+)\)/g, linked);
  });
  return parts.join('');
}

/** The name of a heading in links, as GitHub makes it. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}
