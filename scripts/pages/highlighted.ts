/** Colors of the code blocks on the pages for partners, so that a service needs no library for them. */
import { createRequire } from 'node:module';
import { sandboxOrigin } from '@partner-network/contract/operations';
import { demoKeys } from '../../packages/operator/src/demo/data.ts';
import { digestOf, fence } from '../../packages/service/src/site/markdown.ts';
import { createPartnersSite } from '../../packages/service/src/site/routes.ts';
import { exchangeOf } from '../../packages/testkit/fixtures/http.ts';

/** Loaded without its types: they would add those of a browser to all our files. */
const hljs: {
  getLanguage(name: string): object | undefined;
  highlight(source: string, options: { language: string }): { value: string };
} = createRequire(import.meta.url)('highlight.js/lib/common');

const languages: Readonly<Record<string, string>> = { sh: 'bash', js: 'javascript', ts: 'typescript' };

/** By the digest of a text, without the texts that are different in each service. */
export async function highlightedCode(): Promise<string> {
  const demoKey = demoKeys[0]!.text;
  const place = { environment: 'sandbox', publicUrl: () => sandboxOrigin, demoKey } as const;
  const pages = createPartnersSite(place, { brands: 50 }).routes.filter(([path]) => path.endsWith('.md'));
  const texts = await Promise.all(pages.map(([, route]) => route.answer(exchangeOf())));
  const blocks = texts.flatMap((text) => [...String(text).matchAll(fence)]);
  const own = [sandboxOrigin, demoKey, new URL(sandboxOrigin).host];
  const found = blocks.flatMap(([, name = '', , source = '']) => {
    const language = languages[name] ?? name;
    const isOfPlace = own.some((part) => source.includes(part));
    if (isOfPlace || hljs.getLanguage(language) === undefined) return [];
    const { value } = hljs.highlight(source, { language });
    // Without a color, such as a list of digests, a page does not need it.
    return value.includes('<span') ? [[digestOf(source), value]] : [];
  });
  const sorted = found.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`;
}
