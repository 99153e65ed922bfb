/** What happens before and after a page is made: the session, the form, the frame and the failures. */
import querystring from 'node:querystring';
import { adminBounds } from '@partner-network/common/bounds/operator';
import { holdsKey, isCleanText } from '@partner-network/common/text';
import { adminOperations } from '@partner-network/contract/admin/operations';
import { adminLimits } from '@partner-network/contract/limits';
import { mayUse } from '@partner-network/contract/permissions';
import { redirect } from '@partner-network/http/content';
import { type Exchange, refusalOfFailure } from '@partner-network/http/handle';
import { Refusal } from '@partner-network/http/refusal';
import { decode } from '@partner-network/http/request';
import type { SealedBox } from '@partner-network/service/cursors';
import type { Journal } from '@partner-network/service/receipts';
import { type Store, whileLocked } from '@partner-network/store/port';
import type { Logger } from 'pino';
import type { AdminParts } from '../admin/app.ts';
import { requireRole } from '../admin/credentials.ts';
import { notFound } from '../admin/refusals.ts';
import { checkInput } from '../admin/request.ts';
import { type Frame, type Page, pageHeaders, pageOf, refusalPage } from './layout.ts';
import { signInPage, whyNotKept, whyNotSignedIn } from './pages/sign-in.ts';
import {
  createSessions,
  readForm,
  requireOwnSite,
  requireToken,
  returnPath,
  type Session,
  setCookie,
} from './session.ts';
import { noteRefusal, type Outcome, type Reads, type Texts, type Visit } from './visit.ts';

export interface ConsoleParts extends Pick<AdminParts, 'identify' | 'call' | 'publicUrl'> {
  readonly store: Store;
  readonly box: SealedBox;
  readonly journal: Pick<Journal, 'noteUse'>;
  readonly log: Logger;
  readonly examine: Reads['examine'];
}

/** The names of console requests in logs and metrics. */
export const consoleOperations = ['consolePage', 'consoleChange', 'consoleSignIn'] as const;

export interface ConsolePage {
  readonly method: 'GET' | 'POST';
  /** Below `/console`. */
  readonly path: string;
  readonly operation: (typeof consoleOperations)[number];
  answer(visit: Visit): Promise<Outcome>;
}

/** Milliseconds until a form must be answered, with its body. */
export const formMs = adminLimits.bodySeconds * 1_000 + adminBounds.changeMs;

const noKeys = 'An address must not hold a key: browsers keep it. Search for the key above, and revoke it.';

export class ConsoleSite {
  readonly #parts: ConsoleParts;
  readonly #sessions: ReturnType<typeof createSessions>;
  readonly #reads: Reads;

  constructor(parts: ConsoleParts) {
    const { store, box, examine } = parts;
    this.#parts = parts;
    this.#reads = { ...store, examine };
    this.#sessions = createSessions(store, box);
  }

  /** Answers a person who is signed in. Others get the page to sign in, which returns here. */
  visit(page: ConsolePage, encoded: Texts, exchange: Exchange, path: string): Promise<string> {
    exchange.operation = page.operation;
    return this.#shown(exchange, undefined, async () => {
      const session = await this.#sessions.find(exchange);
      if (session === undefined) return this.#askToSignIn(exchange, path);
      return this.#shown(exchange, session, () => this.#answered(page, encoded, exchange, session));
    });
  }

  async #answered(page: ConsolePage, encoded: Texts, exchange: Exchange, session: Session): Promise<string> {
    const { journal, call } = this.#parts;
    const { key } = session;
    exchange.key = { id: key.id };
    requireRole(key, 'VIEWER');
    if (holdsKey(querystring.unescape(exchange.query))) throw notFound(noKeys);
    journal.noteUse(key.id, Date.now());
    const form = page.method === 'POST' ? await this.#ownForm(exchange, session) : new URLSearchParams();
    const query = Object.fromEntries([...new URLSearchParams(exchange.query)].filter(([, value]) => value));
    const ids = Object.fromEntries(Object.entries(encoded).map(([name, text]) => [name, idOf(text)]));
    const outcome = await page.answer({
      exchange,
      session,
      ids,
      query,
      form,
      call: async (id, input = {}) =>
        (await call(id, { key, exchange }, (operation) => checkInput(operation, input))).body,
      may: (id) => mayUse(key.role, adminOperations[id].permission),
      reads: this.#reads,
    });
    if ('to' in outcome) return redirect(exchange, outcome.to);
    if ('file' in outcome) {
      const name = `attachment; filename="${outcome.name}"`;
      exchange.headers.push('Content-Type', 'application/x-ndjson', 'Content-Disposition', name);
      exchange.headers.push('Cache-Control', 'no-store');
      return outcome.file;
    }
    return this.#rendered(exchange, outcome, { session, notice: session.openNotice(query.done) });
  }

  /** Exchanges a key for a cookie. The key is in the body of this request, and nowhere else. */
  signIn(exchange: Exchange): Promise<string> {
    const { identify, publicUrl } = this.#parts;
    exchange.operation = 'consoleSignIn';
    return this.#shown(exchange, undefined, async () => {
      requireOwnSite(exchange, publicUrl());
      const form = await readForm(exchange);
      const next = returnPath(form.get('next'));
      try {
        const text = form.get('key')?.trim() ?? '';
        requireRole(await identify(exchange, ['authorization', `Bearer ${text}`]), 'VIEWER');
        exchange.headers.push(...setCookie(publicUrl(), this.#sessions.begin(text)));
        return redirect(exchange, next);
      } catch (thrown) {
        if (!(thrown instanceof Refusal)) throw thrown;
        noteRefusal(exchange, thrown);
        return this.#rendered(exchange, signInPage(exchange, next, whyNotSignedIn(thrown)));
      }
    });
  }

  signOut(exchange: Exchange): Promise<string> {
    exchange.operation = 'consoleSignIn';
    const work = async () => {
      // Browsers send no cookie with a form of another site, but would forget it as this answer says.
      requireOwnSite(exchange, this.#parts.publicUrl());
      const session = await this.#sessions.find(exchange);
      if (session !== undefined) {
        await this.#ownForm(exchange, session);
        await whileLocked(session.end, adminBounds.lockMs);
      }
      exchange.headers.push(...setCookie(this.#parts.publicUrl(), ''));
      return redirect(exchange, '/console');
    };
    return this.#shown(exchange, undefined, work, 'You are still signed in.');
  }

  #askToSignIn(exchange: Exchange, path: string): string {
    exchange.status = path === '/console' ? 200 : 401;
    const query = exchange.query === '' ? '' : `?${exchange.query}`;
    const next = exchange.method === 'POST' ? '/console' : returnPath(path + query);
    return this.#rendered(exchange, signInPage(exchange, next, whyNotKept(this.#parts.publicUrl())));
  }

  async #ownForm(exchange: Exchange, session: Session): Promise<URLSearchParams> {
    requireOwnSite(exchange, this.#parts.publicUrl());
    const form = await readForm(exchange);
    requireToken(session, form);
    return form;
  }

  /** A person reads the answer, so every failure is a page too. */
  async #shown(
    exchange: Exchange,
    session: Session | undefined,
    work: () => Promise<string>,
    ifFailed?: string,
  ): Promise<string> {
    try {
      return await work();
    } catch (thrown) {
      const { log } = this.#parts;
      const refused = thrown instanceof Refusal ? thrown : refusalOfFailure(log, exchange.requestId, thrown);
      noteRefusal(exchange, refused);
      return this.#rendered(exchange, refusalPage(refused, ifFailed), { session });
    }
  }

  #rendered(exchange: Exchange, page: Page, frame: Omit<Frame, 'environment'> = {}): string {
    exchange.headers.push(...pageHeaders);
    return pageOf(page, { environment: this.#parts.store.environment, ...frame });
  }
}

/** The id in a path. A `+` is a plus there. */
function idOf(encoded: string): string {
  const id = decode(encoded.replaceAll('+', '%2B'));
  if (id === undefined || !isCleanText(id)) throw notFound('The address has no valid id.');
  if (holdsKey(id)) throw notFound(noKeys);
  return id;
}
