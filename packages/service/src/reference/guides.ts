import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { sandboxOrigin } from '@partner-network/contract/operations';

/** A page for partners, shown in the reference. */
export interface Guide {
  /** The name of its file. A guide about a listing has the name of the listing's tag. */
  readonly name: string;
  /** The folder of its kind: tutorials, how-to or reference. */
  readonly kind: string;
  readonly title: string;
  readonly text: string;
}

const docs = new URL('../../../../docs/', import.meta.url);

const kinds = ['tutorials', 'how-to', 'reference'];

/** The order of the guides of a kind. Others follow by name. */
const order = [
  'quick-start',
  'rehearse-failures',
  'command-line',
  'use-your-own-tools',
  'pagination',
  'errors',
  'rate-limits',
  'keys',
  'brands',
  'balances',
  'environments-and-scopes',
  'error-catalogue',
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
  /** Other files of docs/ that this service has, and their paths. */
  readonly files: Readonly<Record<string, string>>;
}

/** Reads the guides from the files that the repository shows, adapted to the service that serves them. */
export async function readGuides({ publicUrl, key, isOwnSandbox, files }: Surroundings): Promise<Guide[]> {
  const guides = await guideFiles();
  const addressOf = ({ pathname, hash }: URL) => {
    const guide = guides.find((other) => other.pathname === pathname);
    if (guide !== undefined)
      return hash === '' ? `#tag/${nameOf(guide)}` : `#${nameOf(guide)}-${hash.slice(1)}`;
    const path = files[pathname.slice(docs.pathname.length)];
    return path && publicUrl + path;
  };
  return Promise.all(
    guides.map(async (file) => {
      const name = nameOf(file);
      const kind = file.pathname.slice(docs.pathname.length).split('/')[0]!;
      const markdown = await readFile(file, 'utf8');
      const [, title = name, body = ''] = /^# ([^\n]+)\n(.*)$/s.exec(markdown) ?? [];
      const text = withAnchors(file, body.trim(), addressOf);
      // Elsewhere, this guide is about a sandbox on the reader's machine: its address and key stay.
      if (name === 'sandbox' && !isOwnSandbox) return { name, kind, title, text };
      const addressed = text.replaceAll(sandboxOrigin, () => publicUrl);
      return { name, kind, title, text: addressed.replaceAll(exampleKey, () => key) };
    }),
  );
}

/** The files of all guides, in the order in which they are shown. */
export async function guideFiles(): Promise<URL[]> {
  const rank = (file: URL) => (order.includes(nameOf(file)) ? order.indexOf(nameOf(file)) : order.length);
  const folders = kinds.map(async (kind) => {
    const folder = new URL(`${kind}/partners/`, docs);
    const names = (await readdir(folder)).filter((name) => name.endsWith('.md')).sort();
    return names.map((name) => new URL(name, folder)).sort((left, right) => rank(left) - rank(right));
  });
  return (await Promise.all(folders)).flat();
}

function nameOf(file: URL): string {
  return basename(file.pathname, '.md');
}

/** Makes links lead to where the service has their target. A link to any other file becomes plain text. */
function withAnchors(file: URL, text: string, addressOf: (target: URL) => string | undefined): string {
  const linked = (_: string, label: string, target: string) => {
    const address = addressOf(new URL(target, file));
    return address === undefined ? label : `[${label}](${address})`;
  };
  const headed = (_: string, level: string, title: string) =>
    `${level} <a id="${nameOf(file)}-${slugOf(title)}"></a>${title}`;
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
