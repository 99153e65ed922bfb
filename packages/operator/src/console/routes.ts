/** The paths of the console. */
import { adminBounds, identityBounds } from '@partner-network/common/bounds/operator';
import { redirect } from '@partner-network/http/content';
import type { Exchange, Route } from '@partner-network/http/handle';
import { notFound } from '../admin/refusals.ts';
import { createPaths } from '../admin/routes.ts';
import { callbackPath } from '../identity/settings.ts';
import { actions } from './actions.ts';
import { pagesOf } from './confirm.ts';
import { copyScript, style } from './layout.ts';
import { auditPage } from './pages/audit.ts';
import { customerPage, receiptsPage, requestPage } from './pages/customers.ts';
import { dataPage } from './pages/data.ts';
import { download, files } from './pages/downloads.ts';
import { healthPage } from './pages/health.ts';
import { startPage } from './pages/home.ts';
import { brandPage, keyPage, partnerPage } from './pages/partners.ts';
import { customersReadPage } from './pages/readers.ts';
import { search } from './pages/search.ts';
import { type ConsolePage, type ConsoleParts, ConsoleSite, formMs } from './site.ts';

const get = (path: string, answer: ConsolePage['answer']): ConsolePage => ({
  method: 'GET',
  path,
  operation: 'consolePage',
  answer,
});

const unknown = get('', async () => {
  throw notFound('There is no such page. Correct the address, or search for an id above.');
});

const pages: readonly ConsolePage[] = [
  get('/', startPage),
  get('/partners/{id}', partnerPage),
  get('/keys/{id}', keyPage),
  get('/customers/{customer_id}', customerPage),
  get('/brands/{partner_id}/{id}', brandPage),
  get('/requests/{request_id}', requestPage),
  get('/receipts', receiptsPage),
  get('/receipts/customers', customersReadPage),
  get('/data', dataPage),
  get('/audit', auditPage),
  ...files.map((file): ConsolePage => {
    const page = get(`/${file.join('.')}`, (visit) => download(visit, file));
    return { ...page, operation: 'consoleDownload' };
  }),
  get('/health', healthPage),
  get('/search', async () => ({ to: '/console' })),
  { ...get('/search', search), method: 'POST' },
  ...actions.flatMap(pagesOf),
];

const matchPage = createPaths(
  '/console',
  pages.map((page) => ({ id: page, method: page.method, path: page.path })),
);

/** Finds the route of a path of the console. The start of the service leads there, too. */
export function createConsole(parts: ConsoleParts): (path: string) => Route | undefined {
  const site = new ConsoleSite(parts);
  const toStart = async (exchange: Exchange) => redirect(exchange, '/console');
  /** A reader who reloads the address of a form without its fields starts again. */
  const formRoute = (send: (exchange: Exchange) => Promise<string>): Route => ({
    methods: ['GET', 'HEAD', 'POST'],
    answerMs: () => formMs,
    answer: (exchange) => (exchange.method === 'POST' ? send : toStart)(exchange),
  });
  const atProvider = (answer: Route['answer']): Route => ({
    answerMs: () => identityBounds.signInMs,
    answer,
  });
  const fixed = new Map<string, Route>([
    style,
    copyScript,
    ['/', { answer: toStart }],
    ['/console/sign-in', formRoute((exchange) => site.signIn(exchange))],
    ['/console/sign-in/start', atProvider((exchange) => site.startSignIn(exchange))],
    [callbackPath, atProvider((exchange) => site.finishSignIn(exchange))],
    ['/console/sign-out', formRoute((exchange) => site.signOut(exchange))],
  ]);
  const unknownRoute = (path: string): Route | undefined =>
    path.startsWith('/console/')
      ? { answer: (exchange) => site.visit(unknown, {}, exchange, path) }
      : undefined;
  return (path) => {
    const match = matchPage(path === '/console' ? '/console/' : path);
    if (match === undefined) return fixed.get(path) ?? unknownRoute(path);
    return {
      methods: Object.keys(match),
      answerMs: (method) => (method === 'POST' ? formMs : adminBounds.changeMs),
      answer: (exchange) => {
        const { id: page, encoded } = match[exchange.method]!;
        return site.visit(page, encoded, exchange, path);
      },
    };
  };
}
