/** What happens before and after a page is made: the session, the form, the frame and the failures. */
import querystring from 'node:querystring';
import { adminBounds } from '@partner-network/common/bounds/operator';
import { holdsKey, isCleanText } from '@partner-network/common/text';
import { adminOperations } from '@partner-network/contract/admin/operations';
import { adminLimits } from '@partner-network/contract/limits';
import { mayUse } from '@partner-network/contract/permissions';
import { redirect } from '@partner-network/http/content';
import { type Exchange, refusalOfFailure } from '@partner-network/http/handle';
import { Refusal, refusal, refusalSaying } from '@partner-network/http/refusal';
import { decode, headerValues } from '@partner-network/http/request';
import type { SealedBox } from '@partner-network/service/cursors';
import type { Journal } from '@partner-network/service/receipts';
import { type Store, whileLocked } from '@partner-network/store/port';
import type { Logger } from 'pino';
import type { AdminParts } from '../admin/app.ts';
import { requireRole } from '../admin/credentials.ts';
import { notFound } from '../admin/refusals.ts';
import { checkInput } from '../admin/request.ts';
import { type IdentityProvider, SignInFailed } from '../identity/provider.ts';
import { countPartners, kept } from './counted.ts';
import { type Frame, headersOf, type Page, pageOf, refusalPage } from './layout.ts';
import { goingOnPage, signInPage, startOf, whyNotKept, whyNotSignedIn } from './pages/sign-in.ts';
import {
  createSessions,
  readForm,
  requireOwnSite,
  requireToken,
  returnPath,
  type Session,
} from './session.ts';
import { SignIn } from './sign-in.ts';
import { type Download, noteRefusal, type Outcome, type Reads, type Texts, type Visit } from './visit.ts';

export interface ConsoleParts extends Pick<AdminParts, 'identify' | 'call' | 'publicUrl'> {
  readonly store: Store;
  readonly box: SealedBox;
  readonly journal: Pick<Journal, 'noteUse'>;
  readonly log: Logger;
  readonly examine: Reads['examine'];
  /** Absent if people sign in with keys only. */
  readonly provider?: IdentityProvider | undefined;
}

/** The names of console requests in logs and metrics. */
export const consoleOperations = [
  'consolePage',
  'consoleDownload',
  'consoleChange',
  'consoleSignIn',
] as const;

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
  readonly #signIn: SignIn | undefined;
  /** Downloads under way. */
  #downloads = 0;

  constructor(parts: ConsoleParts) {
    const { store, box, examine, provider, publicUrl } = parts;
    this.#parts = parts;
    const counted = kept(() => countPartners(store));
    this.#reads = { ...store, examine, examined: kept(examine), counted };
    this.#sessions = createSessions({ store, box, oidc: provider?.settings, publicUrl });
    this.#signIn = provider && new SignIn(provider, { store, box, sessions: this.#sessions, publicUrl });
  }

  /** Answers a person who is signed in. Others get the page to sign in, which returns here. */
  visit(page: ConsolePage, encoded: Texts, exchange: Exchange, path: string): Promise<string> {
    exchange.operation = page.operation;
    return this.#shown(exchange, undefined, async () => {
      const session = await this.#sessions.find(exchange);
      if (session === undefined || session.isOver) return this.#askToSignIn(page, exchange, path, session);
      return this.#shown(exchange, session, () => this.#answered(page, encoded, exchange, session, path));
    });
  }

  async #answered(
    page: ConsolePage,
    encoded: Texts,
    exchange: Exchange,
    session: Session,
    path: string,
  ): Promise<string> {
    const { journal, call } = this.#parts;
    const { caller } = session;
    if (caller.keyId !== undefined) {
      exchange.key = { id: caller.keyId };
      journal.noteUse(caller.keyId, Date.now());
    }
    requireRole(caller, 'VIEWER');
    if (holdsKey(querystring.unescape(exchange.query))) throw notFound(noKeys);
    const form =
      page.method === 'POST'
        ? await this.#ownForm(exchange, session)
        : (this.#sessions.takeForm(exchange, session, path) ?? new URLSearchParams());
    const query = Object.fromEntries([...new URLSearchParams(exchange.query)].filter(([, value]) => value));
    const ids = Object.fromEntries(Object.entries(encoded).map(([name, text]) => [name, idOf(text)]));
    const outcome = await page.answer({
      exchange,
      session,
      ids,
      query,
      form,
      call: async (id, input = {}) =>
        (await call(id, { caller, exchange }, (operation) => checkInput(operation, input))).body,
      may: (id) => mayUse(caller.role, adminOperations[id].permission),
      reads: this.#reads,
    });
    if ('to' in outcome) return redirect(exchange, outcome.to);
    if ('file' in outcome) return this.#sendFile(exchange, outcome);
    return this.#rendered(exchange, outcome, { session, notice: session.open('notice', query.done) });
  }

  #sendFile(exchange: Exchange, { file, name, type }: Download): string {
    if (this.#downloads >= adminBounds.downloads) throw refusalSaying('SERVICE_UNAVAILABLE', '', 'downloads');
    const named = `attachment; filename="${this.#parts.store.environment}-${name}"`;
    exchange.headers.push('Content-Type', type, 'Content-Disposition', named, 'Cache-Control', 'no-store');
    exchange.stream = this.#whileSignedIn(exchange, file);
    return '';
  }

  /** Counts a download until its end. A key that is revoked ends it, and so does a sign-out. */
  async *#whileSignedIn(exchange: Exchange, file: Download['file']): Download['file'] {
    this.#downloads += 1;
    try {
      for await (const part of file) {
        const session = await this.#sessions.find(exchange);
        if (session === undefined || session.isOver) throw refusal('UNAUTHORIZED');
        yield part;
      }
    } finally {
      this.#downloads -= 1;
    }
  }

  /** Exchanges a key for a cookie. The key is in the body of this request, and nowhere else. */
  signIn(exchange: Exchange): Promise<string> {
    const { identify, publicUrl } = this.#parts;
    return this.#signing(exchange, async () => {
      requireOwnSite(exchange, publicUrl());
      const form = await readForm(exchange);
      const next = returnPath(form.get('next'));
      if (this.#parts.provider?.settings['oidc-only'])
        throw refusalSaying('INSUFFICIENT_ROLE', 'Keys are refused here. Sign in with your account.');
      const text = form.get('key')?.trim() ?? '';
      try {
        requireRole(await identify(exchange, ['authorization', `Bearer ${text}`]), 'VIEWER');
        this.#sessions.begin(exchange, { key: text });
        return redirect(exchange, next);
      } catch (thrown) {
        if (!(thrown instanceof Refusal)) throw thrown;
        noteRefusal(exchange, thrown);
        return this.#signInPage(exchange, next, whyNotSignedIn(thrown, text));
      }
    });
  }

  signOut(exchange: Exchange): Promise<string> {
    const work = async () => {
      // Browsers send no cookie with a form of another site, but would forget it as this answer says.
      requireOwnSite(exchange, this.#parts.publicUrl());
      const session = await this.#sessions.find(exchange);
      if (session !== undefined) {
        await this.#ownForm(exchange, session);
        await whileLocked(session.end, adminBounds.lockMs);
      }
      this.#sessions.forget(exchange);
      const isPerson = session !== undefined && session.caller.keyId === undefined;
      // A provider that is down does not keep a person here.
      const asked = isPerson ? this.#parts.provider?.signOutAddress() : undefined;
      const to = await asked?.catch((thrown) => void this.#refusalOf(thrown, exchange));
      // Browsers do not let a form lead to another site, but a page may go there by itself.
      if (to !== undefined) return this.#rendered(exchange, goingOnPage('You are signed out', to));
      return redirect(exchange, '/console');
    };
    return this.#signing(exchange, work, 'You are still signed in.');
  }

  #signInPage(exchange: Exchange, next: string, mistake?: string): string {
    return this.#rendered(exchange, signInPage(exchange, next, this.#parts.provider?.settings, mistake));
  }

  /** Asks to sign in, or again after the end of a session. A form is then kept for the same person. */
  async #askToSignIn(page: ConsolePage, exchange: Exchange, path: string, ended?: Session): Promise<string> {
    const isForm = page.method === 'POST';
    const next = isForm ? '/console' : returnPath(`${path}?${exchange.query}`);
    if (ended !== undefined && isForm) {
      this.#sessions.keepForm(exchange, ended, path, await this.#ownForm(exchange, ended));
      exchange.status = 401;
      return this.#signInPage(exchange, page.operation === 'consoleChange' ? path : next, formIsKept);
    }
    if (ended !== undefined && ended.caller.keyId === undefined) return redirect(exchange, startOf(next));
    exchange.status = path === '/console' ? 200 : 401;
    return this.#signInPage(exchange, next, whyNotKept(this.#parts.publicUrl()));
  }

  /** Sends the browser to the provider. A page of another site may not: each sign-in leaves a cookie. */
  startSignIn(exchange: Exchange): Promise<string> {
    return this.#signing(exchange, async () => {
      const signIn = this.#atProvider();
      const query = new URLSearchParams(exchange.query);
      const asked = returnPath(query.get('next'));
      const next = JSON.stringify(asked).length > adminBounds.returnCharacters ? '/console' : asked;
      const [site = 'none'] = headerValues(exchange.rawHeaders, 'sec-fetch-site');
      const isOwn = ['none', 'same-origin'].includes(site);
      if (!isOwn) return this.#signInPage(exchange, next);
      return signIn.start(exchange, next, query.get('prompt') === 'login' ? 'login' : undefined);
    });
  }

  /** Takes the answer of the identity provider. */
  finishSignIn(exchange: Exchange): Promise<string> {
    const work = async () => this.#rendered(exchange, await this.#atProvider().finish(exchange));
    // The code is in this address, and no later request may name it. The last header counts.
    return this.#signing(exchange, work).finally(() =>
      exchange.headers.push('Referrer-Policy', 'no-referrer'),
    );
  }

  #atProvider(): SignIn {
    if (this.#signIn === undefined) throw notFound('No identity provider is set. Sign in with a key.');
    return this.#signIn;
  }

  #signing(exchange: Exchange, work: () => Promise<string>, ifFailed?: string): Promise<string> {
    exchange.operation = 'consoleSignIn';
    return this.#shown(exchange, undefined, work, ifFailed);
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
      const refused = this.#refusalOf(thrown, exchange);
      noteRefusal(exchange, refused);
      return this.#rendered(exchange, refusalPage(refused, exchange.requestId, ifFailed), { session });
    }
  }

  /** The refusal for what was thrown. The log has the reason of a failure. */
  #refusalOf(thrown: unknown, { requestId }: Exchange): Refusal {
    const { log } = this.#parts;
    if (thrown instanceof SignInFailed && thrown.reason !== undefined)
      log.warn({ request_id: requestId, reason: thrown.reason }, 'the identity provider failed');
    return thrown instanceof Refusal ? thrown : refusalOfFailure(log, requestId, thrown);
  }

  #rendered(exchange: Exchange, page: Page, frame: Omit<Frame, 'environment'> = {}): string {
    exchange.headers.push(...headersOf(page));
    return pageOf(page, { environment: this.#parts.store.environment, ...frame });
  }
}

const formIsKept =
  'Your session has ended, so nothing was changed. Sign in again within 10 minutes: you get your form ' +
  'back, to confirm it.';

/** The id in a path. A `+` is a plus there. */
function idOf(encoded: string): string {
  const id = decode(encoded.replaceAll('+', '%2B'));
  if (id === undefined || !isCleanText(id)) throw notFound('The address has no valid id.');
  if (holdsKey(id)) throw notFound(noKeys);
  return id;
}
