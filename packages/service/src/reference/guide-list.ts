/** The guides that a service shows at /docs/guides. guides.ts reads them when a reader comes. */
export interface Listed {
  /** A guide about a listing has the name of the listing's tag. */
  readonly name: string;
  /** The heading of its group in the sidebar. */
  readonly group: string;
  readonly file: string;
  /** If it is not the first heading of the file: a README has the name of its package. */
  readonly title?: string;
}

/** All guides, in the order in which they are shown. */
export const guideList: readonly Listed[] = [
  listed('Start', 'docs/tutorials/partners', 'quick-start', 'rehearse-failures'),
  { name: 'javascript', group: 'Clients', file: 'packages/client/README.md', title: 'Client for JavaScript' },
  { name: 'python', group: 'Clients', file: 'clients/python/README.md', title: 'Client for Python' },
  listed('Clients', 'docs/how-to/partners', 'command-line', 'use-your-own-tools'),
  listed('How-to guides', 'docs/how-to/partners', 'pagination', 'errors', 'rate-limits', 'keys'),
  listed('Reference', 'docs/reference/partners', 'brands', 'balances', 'environments-and-scopes'),
  listed('Reference', 'docs/reference/partners', 'error-catalogue', 'sandbox'),
].flat();

function listed(group: string, folder: string, ...names: string[]): Listed[] {
  return names.map((name) => ({ name, group, file: `${folder}/${name}.md` }));
}
